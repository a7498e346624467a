import { DocOptError } from '../errors.ts';
import type { Wire } from '../run/wire/mod.ts';
import type { Endpoint } from './endpoint.ts';

/** What a Text Embeddings Inference server says of itself. */
export interface TeiInfo {
  readonly model: string;
  /** Most texts in one request, most tokens; undefined where it does not say. */
  readonly inputs: number | undefined;
  readonly tokens: number | undefined;
}

/** Asks it; CONFIG when it serves another model than the one that is `wanted`. */
export async function teiInfo(endpoint: Endpoint, wire: Wire, wanted?: string): Promise<TeiInfo> {
  const { model_id, max_client_batch_size, max_batch_tokens } = await wire.json(
    { service: 'tei', url: `${endpoint.url}/info`, method: 'GET', headers: endpoint.headers },
    (body) => (body ?? {}) as Record<string, unknown>,
  );
  const model = typeof model_id === 'string' && model_id !== '' ? model_id : 'default';
  if (wanted !== undefined && wanted !== model) {
    throw new DocOptError('CONFIG', `the tei server at ${endpoint.url} serves '${model}', not '${wanted}'`, {
      hint: 'Correct `model`, or leave it out.',
    });
  }
  return { model, inputs: atLeastOne(max_client_batch_size), tokens: atLeastOne(max_batch_tokens) };
}

function atLeastOne(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 1 ? Math.floor(value) : undefined;
}
