import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadCorpus } from '../../../src/data/mod.ts';
import { codeShare, detectDomain } from '../../../src/text/prose.ts';

const CODE: Record<string, string> = {
  javascript:
    'export function debounce(fn, wait) {\n  let timer;\n  return (...args) => {\n    clearTimeout(timer);\n    timer = setTimeout(() => fn(...args), wait);\n  };\n}',
  'a javascript class with comments':
    '// Keeps the last n values, oldest first.\nclass Ring {\n  constructor(n) {\n    this.items = new Array(n);\n    this.at = 0;\n  }\n  // Drops the oldest value when the ring is full.\n  push(value) {\n    this.items[this.at++ % this.items.length] = value;\n  }\n}',
  typescript:
    'interface Point { readonly x: number; readonly y: number }\nconst length = ({ x, y }: Point): number => Math.hypot(x, y);',
  python:
    'def mean(values):\n    total = 0\n    for value in values:\n        total += value\n    return total / len(values)',
  'python that reads like English':
    'from math import sqrt\nimport os\n\nif name in names and not done:\n    pass\nelse:\n    raise error',
  'one line of python': "df.groupby('city')['price'].mean()",
  rust: 'pub fn gcd(a: u64, b: u64) -> u64 {\n    if b == 0 { a } else { gcd(b, a % b) }\n}\n\nuse std::collections::HashMap;',
  go: 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfor i := 0; i < 3; i++ {\n\t\tfmt.Println(i)\n\t}\n}',
  c: '#include <stdio.h>\n\nint main(void) {\n  printf("hello\\n");\n  return 0;\n}',
  sql: "SELECT name, count(*) AS n\nFROM orders o\nJOIN customers c ON c.id = o.customer_id\nWHERE o.created > '2024-01-01'\nGROUP BY name\nORDER BY n DESC",
  'sql on one line': "select id, name from users where city = 'Bern' order by name",
  json: '{\n  "name": "demo",\n  "private": true,\n  "scripts": { "test": "vitest run" },\n  "keywords": ["a", "b"]\n}',
  yaml: 'server:\n  host: 0.0.0.0\n  port: 8080\nlog:\n  level: info\n  file: /var/log/demo.log',
  ini: '[database]\nhost = localhost\nport = 5432\nuser = app\n\n[cache]\nttl = 300',
  shell: '#!/bin/sh\nset -eu\nfor f in *.txt; do\n  wc -l "$f" | sort -n\ndone',
  html: '<!doctype html>\n<html>\n<body>\n<ul class="menu"><li><a href="/">Home</a></li></ul>\n</body>\n</html>',
  css: '.menu > li {\n  display: inline-block;\n  margin: 0 4px;\n}',
  minified: '!function(e,t){"object"==typeof exports?module.exports=t():e.x=t()}(this,function(){return 1});',
};

const PROSE: Record<string, string> = {
  english:
    'The river had risen overnight. By morning the lower field stood under water, and the two horses were waiting at the gate, as they always did when something was wrong.',
  german:
    'Der Zug hielt auf freier Strecke. Niemand wusste, warum; erst nach einer halben Stunde kam die Durchsage, dass ein Baum auf den Gleisen liege (und dass man um Geduld bitte).',
  french:
    "Il n'avait pas plu depuis des semaines ; la terre, sèche et fendue, semblait attendre. « C'est pour demain », disait-on chaque soir.",
  greek: 'Η θάλασσα ήταν ήρεμη εκείνο το πρωί. Οι ψαράδες είχαν φύγει πριν από την αυγή και το λιμάνι ήταν άδειο.',
  chinese: '昨天夜里下了一场大雪。早上起来，院子里已经是一片白色，孩子们都跑出去堆雪人了。',
  'japanese without a comma': '吾輩は猫である名前はまだ無い\nどこで生れたかとんと見当がつかぬ',
  'a recipe':
    'Lentil soup\n\n200 g brown lentils\n1 onion, chopped\n2 carrots\n1 tsp cumin\nsalt and pepper\n\nFry the onion in a little oil until soft. Add the carrots, the lentils and 1 litre of water. Simmer for 30 minutes; season to taste.',
  'a chat':
    'anna: did anyone feed the cat this morning?\nbo: not me, I left at 6\nanna: ok, then I will go home at noon\n[12:04] carl: she is asleep on the printer, all is well :)',
  'an abstract':
    'BACKGROUND. Vitamin D deficiency is common (25-hydroxyvitamin D < 50 nmol/L). METHODS. We followed 1,204 adults for 3.5 years; the primary outcome was fracture. RESULTS. The hazard ratio was 0.87 (95% CI 0.71-1.06; p = 0.16).',
  'all capitals':
    'FROM THE ANNUAL REPORT OF THE LIBRARY COMMITTEE. ON THE USE OF CATALOGUES IN RURAL BRANCHES AND OR THE LACK OF THEM. WITH A SURVEY OF 400 READERS.',
  'markdown with some code':
    '# Getting started\n\nThe library reads a stream of events and keeps the last hour of them in memory. Install it, then open a store:\n\n```js\nconst store = open();\n```\n\nEvery event has a time and a name. When the store is full, the oldest events are dropped, and a warning is printed once. You can change how much is kept, but the default is fine for most uses.',
  'a letter':
    'Dear Ms Weber,\n\nthank you for your order of 12 March. We regret that item 4711 is out of stock; it will follow within two weeks.\n\nYours sincerely,\nThe shop',
  questions: 'How do I change the oil of a lawn mower? Is it safe to tilt it on its side, and if so, on which one?',
};

describe('detectDomain', () => {
  for (const [name, text] of Object.entries(CODE))
    test(`${name} is code`, () => expect(detectDomain([text])).toEqual({ domain: 'code', share: 1 }));
  for (const [name, text] of Object.entries(PROSE))
    test(`${name} is prose`, () => expect(detectDomain([text])).toEqual({ domain: 'prose', share: 0 }));

  test('a mixed collection goes by its majority, and says how mixed it is', () => {
    const code = Object.values(CODE).slice(0, 3);
    const prose = Object.values(PROSE).slice(0, 2);
    expect(detectDomain([...code, ...prose])).toEqual({ domain: 'code', share: 0.6 });
    expect(detectDomain([...code.slice(0, 1), ...prose])).toEqual({ domain: 'prose', share: 1 / 3 });
  });

  test('what says nothing does not count', () => {
    expect(detectDomain([])).toEqual({ domain: 'prose', share: 0 });
    expect(detectDomain(['', ' \n\t', '12 %'])).toEqual({ domain: 'prose', share: 0 });
    expect(detectDomain(['', CODE.python, '---'])).toEqual({ domain: 'code', share: 1 });
    expect(codeShare('')).toBeUndefined();
  });

  test('reads no more than it needs', () => {
    let read = 0;
    function* endless(): Generator<string> {
      for (;;) {
        read++;
        yield CODE.python;
      }
    }
    expect(detectDomain(endless()).domain).toBe('code');
    expect(read).toBeLessThan(2000);
  });

  test('odd texts are judged fast and without an error', () => {
    const odd = [
      'x'.repeat(2_000_000),
      'a b '.repeat(500_000),
      '('.repeat(1_000_000),
      '\u0000\ud800 \udfff'.repeat(1000),
      'a = '.repeat(300_000),
    ];
    const started = performance.now();
    for (const text of odd) detectDomain([text]);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

const DATA = process.env.DOCOPT_DATA;
const COLLECTIONS = {
  mbpp: 'code',
  conala: 'code',
  cisi: 'prose',
  cranfield: 'prose',
  lisa: 'prose',
  medline: 'prose',
  scifact: 'prose',
} as const;

describe.skipIf(DATA === undefined)('detectDomain on collections (set DOCOPT_DATA=DIR to run)', () => {
  for (const [name, domain] of Object.entries(COLLECTIONS)) {
    test.skipIf(!existsSync(join(DATA ?? '', name)))(`${name} is ${domain}`, async () => {
      const corpus = await loadCorpus(join(DATA!, name));
      const texts = Array.from({ length: corpus.size }, (_, i) => corpus.indexText(i));
      const found = detectDomain(texts);
      expect(found.domain).toBe(domain);
      // Not by a hair.
      expect(Math.abs(found.share - 0.5)).toBeGreaterThan(0.3);
    });
  }
});
