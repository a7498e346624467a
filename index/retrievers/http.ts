/**
 * The `http` driver: a retriever of somebody else's, known by its rankings alone. The protocol is docs/retrievers.md; a server
 * that speaks it is examples/http-retriever. Documents go into an index named by their content, so what is there already is
 * not sent again. Counterfactual swaps happen on a second, a shadow of it, document by document: PUT (or DELETE, for an empty
 * text), search, and back. The first is never written to once it is filled, so a process that dies in a swap spoils nothing.
 */
import { createHash } from 'node:crypto';
import { DocOptError } from '../../src/errors.ts';
import { endpointOf } from '../../src/models/endpoint.ts';
import { envOf, type ModelServices, wireOf } from '../../src/models/services.ts';
import type { RetrievalIndex, Retriever } from '../../src/ports.ts';
import type { IndexText, Query, Ranking } from '../../src/types.ts';
import { checkDepth, unknownDocument } from './checks.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';

export interface HttpRetrieverOptions {
  readonly url: string;
  readonly authFrom?: string;
  /** An index that is there already: searched, never written. */
  readonly index?: string;
}

/** Documents below this rank have no similarity to tell apart. */
const SIMILARITY_DEPTH = 1000;

export function createHttpRetriever(options: HttpRetrieverOptions, services: ModelServices): Retriever {
  const connect = async (): Promise<HttpClient> =>
    createHttpClient(endpointOf('http', options, envOf(services)), await wireOf(services));
  const open = async (ids: readonly string[], texts: readonly string[]): Promise<RetrievalIndex> => {
    const client = await connect();
    if (options.index !== undefined) return httpIndex(client, options.index, ids, texts, true);
    const name = `docopt-${contentName(ids, texts)}`;
    await fill(client, name, ids, texts);
    return httpIndex(client, name, ids, texts, false);
  };
  return {
    id: `http(${options.url}${options.index === undefined ? '' : `,${options.index}`})`,
    build: (corpus) =>
      open(
        corpus.ids,
        Array.from({ length: corpus.size }, (_, i) => corpus.indexText(i)),
      ),
    async open(artefact) {
      const { ids, texts } = await artefact.readJson<{ ids: string[]; texts: string[] }>('http.json');
      return open(ids, texts);
    },
  };
}

/** Of ids and texts: another text, another index. */
function contentName(ids: readonly string[], texts: readonly string[]): string {
  const hash = createHash('sha256');
  ids.forEach((id, i) => {
    hash.update(JSON.stringify([id, texts[i]]));
  });
  return hash.digest('hex').slice(0, 24);
}

/** Makes sure that the index holds these documents; empty texts are left out, as nothing finds them. */
async function fill(client: HttpClient, name: string, ids: readonly string[], texts: readonly string[]): Promise<void> {
  const documents = ids.map((id, i) => ({ id, text: texts[i] })).filter(({ text }) => text.trim() !== '');
  if ((await client.count(name)) === documents.length) return;
  await client.drop(name);
  await client.create(name);
  await client.put(name, documents);
  const there = await client.count(name);
  if (there === documents.length) return;
  throw new DocOptError(
    'UPSTREAM',
    `${client.where} holds ${there ?? 'no'} documents after ${documents.length} were put there`,
    {
      hint: 'A PUT has to be visible to the next request; see docs/retrievers.md.',
    },
  );
}

function httpIndex(
  client: HttpClient,
  name: string,
  ids: readonly string[],
  texts: readonly string[],
  isForeign: boolean,
): RetrievalIndex {
  const positions = new Map(ids.map((id, i) => [id, i]));
  const shadow = `${name}-shadow`;
  /** Whether the shadow holds exactly the documents; false again when a swap fails half-way. */
  let shadowIsWhole = false;
  let turn: Promise<unknown> = Promise.resolve();

  const search = async (index: string, queries: readonly Query[], k: number): Promise<Ranking[]> => {
    checkDepth(k);
    const found = new Map<string, Ranking>();
    const asked = [...new Set(queries.map(({ text }) => text))].filter((text) => text.trim() !== '' && k > 0);
    if (asked.length > 0) {
      const rankings = await client.search(
        index,
        asked,
        Math.min(k, Math.max(1, ids.length)),
        isForeign ? positions : undefined,
      );
      asked.forEach((text, i) => {
        found.set(text, ranked(rankings[i]));
      });
    }
    return queries.map(({ text }) => found.get(text) ?? ranked([]));
  };

  /** One swap at a time: the shadow is one index. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work, work);
    turn = result.catch(() => {});
    return result;
  };

  const write = (id: string, text: string): Promise<void> =>
    text.trim() === '' ? client.remove(shadow, id) : client.put(shadow, [{ id, text }]);

  const searchSwapped = async ({ id, text }: IndexText, queries: readonly Query[], k: number): Promise<Ranking[]> => {
    if (!shadowIsWhole) {
      await client.drop(shadow);
      await fill(client, shadow, ids, texts);
    }
    shadowIsWhole = false;
    await write(id, text);
    const rankings = await search(shadow, queries, k);
    await write(id, texts[positions.get(id)!]);
    shadowIsWhole = true;
    return rankings;
  };

  return {
    size: ids.length,
    rankOnly: true,
    search: (queries, k) => search(name, queries, k),
    async similarities(queries, wanted) {
      for (const id of wanted) if (!positions.has(id)) throw unknownDocument(id);
      const rankings = await search(name, queries, SIMILARITY_DEPTH);
      const data = new Float64Array(queries.length * wanted.length).fill(-SIMILARITY_DEPTH - 1);
      rankings.forEach((ranking, row) => {
        const scores = new Map(ranking.ids.map((id, i) => [id, ranking.scores[i]]));
        wanted.forEach((id, column) => {
          data[row * wanted.length + column] = scores.get(id) ?? -SIMILARITY_DEPTH - 1;
        });
      });
      return { rows: queries.length, columns: wanted.length, data };
    },
    async searchReplacing(replacements, queries, k) {
      checkDepth(k);
      for (const { id } of replacements) if (!positions.has(id)) throw unknownDocument(id);
      if (isForeign) {
        throw new DocOptError(
          'USAGE',
          `index '${name}' of ${client.where} is only searched, so no document can be replaced there`,
          {
            hint: 'Leave out `index`: the documents then go into an index of their own, with a shadow for replacements.',
          },
        );
      }
      const answers: Ranking[][] = [];
      for (const [i, replacement] of replacements.entries()) {
        const unchanged = replacement.text === texts[positions.get(replacement.id)!];
        answers.push(
          unchanged ? await search(name, queries[i], k) : await alone(() => searchSwapped(replacement, queries[i], k)),
        );
      }
      return answers;
    },
    save: (artefact) => artefact.write('http.json', JSON.stringify({ ids, texts })),
  };
}

function ranked(ids: readonly string[]): Ranking {
  return { ids, scores: Float64Array.from(ids, (_, i) => -1 - i) };
}
