import { describe, expect, it } from 'vitest';
import { clickRule, gradeOf, ruleText } from '../../../dataset/import/clicks.ts';
import { parseColumns } from '../../../dataset/import/columns.ts';
import { parseHtml } from '../../../dataset/import/html.ts';
import { parseMarkdown } from '../../../dataset/import/markdown.ts';

describe('--columns', () => {
  it('tells the list of the judgements by query, clicks or label; the id may stand in both', () => {
    const lists = ['id=sku,title=name,text=body,intro,metadata=brand,price', 'query=q,id=url,clicks=n,label=g'];
    expect(parseColumns(lists)).toEqual({
      corpus: { id: 'sku', title: ['name'], text: ['body', 'intro'], metadata: ['brand', 'price'] },
      judgements: { query: 'q', id: 'url', clicks: 'n', label: 'g' },
    });
    expect(parseColumns(lists.toReversed())).toEqual(parseColumns(lists));
    expect(parseColumns(['id=a', 'text=b']).corpus).toMatchObject({ id: 'a', text: ['b'] });
  });

  it.each([['body'], ['id=a,b'], ['id=a', 'id=b'], ['query=q,title=t'], ['txt=a'], ['id=']])(
    '%j is refused',
    (...lists) => {
      expect(() => parseColumns(lists)).toThrowError(/--columns/);
    },
  );
});

describe('clicks', () => {
  it('become grades by thresholds', () => {
    const rule = clickRule(undefined, [3, 10, 30]);
    expect([0, 2, 3, 9, 10, 29, 30, 999].map((clicks) => gradeOf(clicks, rule))).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    expect(ruleText(clickRule(5, undefined))).toBe('grade 1 from 5 clicks');
    expect(clickRule(undefined, undefined).thresholds).toEqual([3]);
  });

  it('refuses rules that contradict themselves', () => {
    expect(() => clickRule(undefined, [3, 3])).toThrowError(/rise/);
    expect(() => clickRule(2, [3, 10])).toThrowError(/different things/);
  });
});

describe('Markdown', () => {
  it('front matter becomes metadata, its title the title, the rest stays as it is', () => {
    const parsed = parseMarkdown(
      '---\r\ntitle: T\r\ndate: 2024-01-02\r\ntags:\r\n  - a\r\n---\r\n\r\n# H\r\nbody  \r\n',
      'x.md',
    );
    expect(parsed).toEqual({ title: 'T', text: '# H\r\nbody  \r\n', metadata: { date: '2024-01-02', tags: ['a'] } });
  });

  it('without front matter the first heading is the title', () => {
    expect(parseMarkdown('# H *x*\n\ntext', 'x.md')).toEqual({ title: 'H *x*', text: '# H *x*\n\ntext', metadata: {} });
    expect(parseMarkdown('text\n# H', 'x.md').title).toBe('');
    expect(parseMarkdown('---\n---\ntext', 'x.md')).toEqual({ title: '', text: 'text', metadata: {} });
    expect(parseMarkdown('---\nno end', 'x.md').text).toBe('---\nno end');
  });

  it.each([
    ['---\ntitle: "a\nb: c\n---\nx', /x\.md:\d: the front matter is not YAML/],
    ['---\na: 1\nb: [\n---\nx', /x\.md:\d: the front matter is not YAML/],
    ['---\na: 1\na: 2\n---\nx', /x\.md:3: the front matter is not YAML.*unique/],
    ['---\njust words\n---\nx', /x\.md:2: the front matter is not YAML: expected keys/],
    [
      `---\na: &a [1]\nb: &b [${'*a,'.repeat(60)}]\nc: [${'*b,'.repeat(60)}]\n---\n`,
      /the front matter is not YAML: Excessive alias/,
    ],
  ])('what is no YAML mapping is named with its line', (text, message) => {
    expect(() => parseMarkdown(text, 'x.md')).toThrowError(message);
  });
});

describe('HTML', () => {
  it('is reduced to text: headings keep their level, scripts, styles and addresses go', () => {
    const html = `<title>T &amp; t</title><style>b{}</style><script>x()</script><h2>Head ing</h2><p>a <a href="http://x">link</a> &lt;b&gt;
      c<ul><li>i</ul><img src=x alt=pic><table><tr><th>Key<td>value</table><template>no</template>`;
    const { title, text } = parseHtml(html);
    expect(title).toBe('T & t');
    expect(text).toMatch(/^## Head ing\n\na link <b> c\n\n \* i\n\nKey +value$/);
  });

  it('a text of 20 MB is not cut', () => {
    const html = `<p>${'word '.repeat(4_000_000)}end</p>`;
    expect(parseHtml(html).text.endsWith('end')).toBe(true);
  });

  it('without a title, and without anything', () => {
    expect(parseHtml('<p>x')).toEqual({ title: '', text: 'x' });
    expect(parseHtml('')).toEqual({ title: '', text: '' });
  });
});
