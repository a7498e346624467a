import { DocOptError } from '../../src/errors.ts';

/** Which columns of a corpus become what; several for one are joined. undefined = by their usual names. */
export interface CorpusColumns {
  readonly id?: string;
  readonly title?: readonly string[];
  readonly text?: readonly string[];
  /** Default: every column that is nothing else. */
  readonly metadata?: readonly string[];
}

export interface JudgementColumns {
  readonly query?: string;
  readonly id?: string;
  readonly clicks?: string;
  readonly label?: string;
}

const CORPUS_KEYS = ['id', 'title', 'text', 'metadata'];
const JUDGEMENT_KEYS = ['query', 'id', 'clicks', 'label'];

/**
 * `--columns id=sku,title=name,text=body,metadata=brand,price`: a name without a key of its own belongs to the key before it.
 * The list that has `query`, `clicks` or `label` is of the judgements, any other of the corpus.
 */
export function parseColumns(lists: readonly string[]): { corpus: CorpusColumns; judgements: JudgementColumns } {
  const corpus = new Map<string, string[]>();
  const judgements = new Map<string, string[]>();
  for (const list of lists) {
    const pairs = pairsOf(list);
    const judged = pairs.some(([key]) => key === 'query' || key === 'clicks' || key === 'label');
    const target = judged ? judgements : corpus;
    const known = judged ? JUDGEMENT_KEYS : CORPUS_KEYS;
    for (const [key, names] of pairs) {
      if (!known.includes(key)) {
        const whose = judged ? 'of judgements' : 'of a corpus';
        throw wrong(list, `'${key}' is no part ${whose}`);
      }
      if (target.has(key) && key !== 'metadata') throw wrong(list, `'${key}' is given twice`);
      const one = judged || key === 'id';
      if (one && names.length > 1) throw wrong(list, `'${key}' takes one column`);
      target.set(key, [...(target.get(key) ?? []), ...names]);
    }
  }
  return {
    corpus: {
      id: corpus.get('id')?.[0],
      title: corpus.get('title'),
      text: corpus.get('text'),
      metadata: corpus.get('metadata'),
    },
    judgements: Object.fromEntries([...judgements].map(([key, [name]]) => [key, name])),
  };
}

function pairsOf(list: string): [string, string[]][] {
  const pairs: [string, string[]][] = [];
  for (const part of list.split(',')) {
    const equals = part.indexOf('=');
    if (equals > 0) pairs.push([part.slice(0, equals).trim(), [part.slice(equals + 1).trim()]]);
    else if (pairs.length > 0 && part.trim() !== '') pairs.at(-1)![1].push(part.trim());
    else throw wrong(list, `'${part}' names no column`);
  }
  const empty = pairs.find(([, names]) => names.includes(''));
  if (empty !== undefined) throw wrong(list, `'${empty[0]}=' names no column`);
  return pairs;
}

function wrong(list: string, what: string): DocOptError {
  return new DocOptError('USAGE', `--columns ${list}: ${what}`, {
    hint: 'Expected id=..,title=..,text=..,metadata=.. for the corpus, query=..,id=..,clicks=..,label=.. for judgements.',
  });
}
