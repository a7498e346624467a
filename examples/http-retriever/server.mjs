// A retriever behind HTTP, for `--retriever http:http://127.0.0.1:8900`: BM25 over words, in one file without dependencies.
// Replace `rank` by your own engine and keep the routes; docs/retrievers.md describes them.
//
//   node examples/http-retriever/server.mjs [PORT]
import { createServer as createHttpServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const K1 = 0.9;
const B = 0.4;

/** name -> id -> words of its text */
export function createServer() {
  const indexes = new Map();

  const routes = async (request) => {
    const parts = new URL(request.url, 'http://localhost').pathname.split('/').slice(1).map(decodeURIComponent);
    const [root, name, collection, id] = parts;
    if (root !== 'indexes' || name === undefined || name === '') return [404, { error: 'no such route' }];
    const body = request.method === 'PUT' || request.method === 'POST' ? JSON.parse((await read(request)) || '{}') : {};
    if (collection === undefined && request.method === 'PUT') {
      indexes.set(name, new Map());
      return [200, { documents: 0 }];
    }
    const documents = indexes.get(name);
    if (documents === undefined) return [404, { error: `there is no index '${name}'` }];
    if (collection === undefined && request.method === 'GET') return [200, { documents: documents.size }];
    if (collection === undefined && request.method === 'DELETE') {
      indexes.delete(name);
      return [200, { documents: 0 }];
    }
    if (collection === 'documents' && request.method === 'PUT') {
      const given = id === undefined ? body.documents : [{ id, text: body.text }];
      for (const document of given) documents.set(document.id, words(document.text));
      return [200, { documents: documents.size }];
    }
    if (collection === 'documents' && request.method === 'DELETE' && id !== undefined) {
      return documents.delete(id) ? [200, { documents: documents.size }] : [404, { error: `there is no document '${id}'` }];
    }
    if (collection === 'search' && request.method === 'POST') {
      return [200, { rankings: body.queries.map((query) => rank(documents, words(query), body.k)) }];
    }
    return [404, { error: 'no such route' }];
  };

  return createHttpServer((request, response) => {
    routes(request)
      .catch((error) => [400, { error: error.message }])
      .then(([status, body]) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      });
  });
}

/** Ids of the best k documents that share a word with the query: score descending, then id ascending. */
function rank(documents, query, k) {
  const lengths = [...documents.values()].map((own) => own.length);
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const scores = new Map();
  for (const word of new Set(query)) {
    const holders = [...documents].filter(([, own]) => own.includes(word));
    const idf = Math.log(1 + (documents.size - holders.length + 0.5) / (holders.length + 0.5));
    for (const [id, own] of holders) {
      const count = own.filter((other) => other === word).length;
      const weight = (idf * count) / (count + K1 * (1 - B + (B * own.length) / average));
      scores.set(id, (scores.get(id) ?? 0) + weight);
    }
  }
  return [...scores]
    .sort(([idA, a], [idB, b]) => b - a || (idA < idB ? -1 : 1))
    .slice(0, k)
    .map(([id]) => id);
}

function words(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

async function read(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = createServer();
  server.listen(Number(process.argv[2] ?? 8900), '127.0.0.1', () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}`);
  });
}
