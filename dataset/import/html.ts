/** HTML to text: scripts, styles and addresses left out, headings as Markdown has them, so that their levels are kept. */
import { compile, type HtmlToTextOptions } from 'html-to-text';

const BREAKS = { leadingLineBreaks: 2, trailingLineBreaks: 2 };
const SHARED: HtmlToTextOptions = {
  wordwrap: false,
  // Longer input would be cut in silence; the size of a document is limited before.
  limits: { maxInputLength: Number.MAX_SAFE_INTEGER },
};

const toText = compile({
  ...SHARED,
  formatters: {
    markedHeading: (element, walk, builder, options) => {
      builder.openBlock(options);
      builder.addInline(`${'#'.repeat(Number(element.name?.[1] ?? 1))} `, { noWordTransform: true });
      walk(element.children, builder);
      builder.closeBlock(options);
    },
  },
  selectors: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
      selector,
      format: 'markedHeading',
      options: BREAKS,
    })),
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    { selector: 'title', format: 'skip' },
    { selector: 'script', format: 'skip' },
    { selector: 'style', format: 'skip' },
    { selector: 'template', format: 'skip' },
    { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
  ],
});

const toTitle = compile({ ...SHARED, baseElements: { selectors: ['title'], returnDomByDefault: false } });

/** Title of the `<title>` element ('' without one), text of the `<body>`. */
export function parseHtml(source: string): { readonly title: string; readonly text: string } {
  return { title: toTitle(source).replace(/\s+/g, ' ').trim(), text: toText(source) };
}
