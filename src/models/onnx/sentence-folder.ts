/** What a sentence-transformers folder says beside its weights: pooling, prompts, longest input. Options win over it. */
import { join } from 'node:path';
import { DocOptError } from '../../errors.ts';
import { countIn, type JsonObject, readFolderJson } from './folder-json.ts';

export type Pooling = 'mean' | 'cls' | 'last';

/** The keys of 1_Pooling/config.json that this build can do. */
const POOLINGS: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_cls_token: 'cls',
  pooling_mode_lasttoken: 'last',
};

/** undefined when the folder does not say. DATA when it says something that is not done here. */
export function statedPooling(folder: string): Pooling | undefined {
  const modules = readFolderJson(folder, 'modules.json', 'list') ?? [];
  const ofType = (name: string): string | undefined => {
    const found = modules.find(({ type }) => typeof type === 'string' && type.endsWith(`.${name}`));
    return typeof found?.path === 'string' ? found.path : undefined;
  };
  const dense = ofType('Dense');
  if (dense !== undefined) {
    throw new DocOptError('DATA', `${folder} has a layer after the pooling (${dense}), which is not applied here`, {
      hint: 'Export the whole pipeline into one graph whose output is `sentence_embedding`.',
    });
  }
  const at = ofType('Pooling') ?? '1_Pooling';
  const config = readFolderJson(folder, `${at}/config.json`);
  if (config === undefined) return undefined;
  if (typeof config.pooling_mode === 'string') {
    const modern = { mean: 'mean', cls: 'cls', lasttoken: 'last' } as const;
    const mode = config.pooling_mode as keyof typeof modern;
    if (Object.hasOwn(modern, mode)) return modern[mode];
  }
  const on = Object.entries(config).filter(([key, value]) => key.startsWith('pooling_mode_') && value === true);
  if (on.length === 1 && Object.hasOwn(POOLINGS, on[0][0])) return POOLINGS[on[0][0]];
  throw new DocOptError(
    'DATA',
    `${join(folder, at, 'config.json')} asks for the pooling ${on.map(([key]) => key).join(' + ') || 'of no kind'}`,
    { hint: 'This build pools by mean, cls or last; say which with the key `pooling`.' },
  );
}

export interface Prompts {
  readonly query: string;
  readonly document: string;
}

/** Prompts by role; '' where the folder has none. */
export function statedPrompts(folder: string): Prompts {
  const prompts = readFolderJson(folder, 'config_sentence_transformers.json')?.prompts as JsonObject | undefined;
  const first = (...names: readonly string[]): string => {
    for (const name of names) if (typeof prompts?.[name] === 'string') return prompts[name];
    return '';
  };
  return { query: first('query'), document: first('document', 'passage') };
}

/**
 * The longest input in tokens: what is asked for, else what the folder says, else 512; never more than the model has
 * positions for. CONFIG when more is asked for than that.
 */
export function longestInput(folder: string, asked: number | undefined, positions: number | undefined): number {
  if (asked !== undefined && positions !== undefined && asked > positions) {
    throw new DocOptError(
      'CONFIG',
      `maxTokens ${asked} is more than the ${positions} positions of the model ${folder}`,
      {
        hint: `Choose at most ${positions}.`,
      },
    );
  }
  const stated =
    asked ??
    countIn(readFolderJson(folder, 'sentence_bert_config.json'), 'max_seq_length') ??
    countIn(readFolderJson(folder, 'tokenizer_config.json'), 'model_max_length') ??
    512;
  return Math.min(stated, positions ?? stated);
}
