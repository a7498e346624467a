/** The only way in which foreign text enters a page. */
import { visible } from '../../src/text/visible.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/** For text and for quoted attributes. What a browser would obey or hide (control characters, bidi marks) becomes a visible \uXXXX. */
export function html(text: string): string {
  return visible(text.replace(/\r\n?/g, '\n')).replace(/[&<>"'`]/g, (character) => ENTITIES[character]);
}

/** For a cell of a Markdown table: no markup, no link, no HTML, no new cell. */
export function markdown(text: string): string {
  return visible(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]()#+\-.!|~>]/g, '\\$&')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/:\/\//g, ':&#47;&#47;')
    .replace(/@/g, '&#64;');
}

const LATEX: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '{': '\\{',
  '}': '\\}',
  $: '\\$',
  '&': '\\&',
  '#': '\\#',
  '%': '\\%',
  _: '\\_',
  '^': '\\textasciicircum{}',
  '~': '\\textasciitilde{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  '"': '\\textquotedbl{}',
};

/** For running text of LaTeX: no command survives. */
export function latex(text: string): string {
  return visible(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\{}$&#%_^~<>|"]/g, (character) => LATEX[character]);
}
