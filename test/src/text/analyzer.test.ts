import { describe, expect, test } from 'vitest';
import { ANALYZERS, type AnalyzerName, createAnalyzer, ENGLISH_STOP_WORDS } from '../../../src/text/mod.ts';

const terms = (name: AnalyzerName, text: string) => createAnalyzer(name).analyze(text);

describe('analyzers', () => {
  test('standard keeps every word', () => {
    expect(terms('standard', 'The runners were running.')).toEqual(['the', 'runners', 'were', 'running']);
  });

  test('english drops possessives and stop words and stems the rest', () => {
    expect(terms('english', "The runner's relational databases are not running")).toEqual([
      'runner',
      'relat',
      'databas',
      'run',
    ]);
    expect(terms('english', 'the children’s 3 cats')).toEqual(['children', '3', 'cat']);
  });

  test('code splits identifiers, keeps them whole beside their parts, and stems', () => {
    expect(terms('code', 'def parseHTTPResponses(user_ids): pass')).toEqual([
      'def',
      'pars',
      'http',
      'respons',
      'parsehttpresponses',
      'user',
      'id',
      'user_ids',
      'pass',
    ]);
    expect(terms('code', 'is_in_list')).toEqual(['list', 'is_in_list']);
  });

  test("Lucene's 33 stop words", () => {
    expect(ENGLISH_STOP_WORDS.size).toBe(33);
  });

  test('the same text gives the same terms, from the same analyzer and from another', () => {
    for (const name of ANALYZERS) {
      const analyzer = createAnalyzer(name);
      const text = "getUserIDs() returns the users' relational_IDs; naïve café 東京";
      expect(analyzer.id).toBe(name);
      expect(analyzer.analyze(text)).toEqual(analyzer.analyze(text));
      expect(createAnalyzer(name).analyze(text)).toEqual(analyzer.analyze(text));
    }
  });

  test('odd text is no trouble', () => {
    for (const name of ANALYZERS) {
      for (const text of ['', '\u0000', '\ud800', "'s ’s 's", '_'.repeat(100_000), "x's".repeat(100_000)]) {
        expect(() => terms(name, text)).not.toThrow();
      }
      // No space anywhere: 2 MB of base64 must neither hang nor become one term.
      const base64 = 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3'.repeat(50_000);
      expect(terms(name, base64).filter((term) => term.length > 255)).toEqual([]);
    }
  });

  test('Porter stems', () => {
    const pairs =
      'caresses caress ponies poni cats cat feed feed agreed agre plastered plaster motoring motor sing sing';
    const list = pairs.split(' ');
    for (let i = 0; i < list.length; i += 2) expect(terms('english', list[i])).toEqual([list[i + 1]]);
  });
});
