/**
 * What a model's API takes, by its family: one table, so that nothing is ever found out by trying. A model that no row
 * names is taken for one of the newest, which take least. Checked against the vendors' pages on the day below.
 */
export interface Family {
  /** Which sampling settings may be sent. */
  readonly sampling: 'all' | 'temperature-and-top-p' | 'temperature' | 'none';
  /** It thinks before it answers, and the limit on its output counts that too. */
  readonly thinks: boolean;
  /** How thinking is asked for: by effort, by a budget of tokens, or not at all. */
  readonly thinking: 'effort' | 'budget' | 'none';
  /** Keeps a JSON schema. */
  readonly structured: boolean;
  /** A seed may be sent. */
  readonly seed: boolean;
}

/** When the table was last looked at. */
export const FAMILIES_AS_OF = '2026-11-30';

type Row = readonly [pattern: RegExp, family: Family];

const OPENAI: readonly Row[] = [
  [/^gpt-3\.5/, row('temperature-and-top-p', 'none', false)],
  [/^gpt-4(-0|-1106|-turbo|-32k|$)/, row('temperature-and-top-p', 'none', false)],
  [/^(gpt-4|chatgpt-4o)/, row('temperature-and-top-p', 'none', true)],
  [/^gpt-5(\.\d+)?-chat/, row('temperature-and-top-p', 'none', true)],
  [/^o1-(mini|preview)/, row('none', 'none', false, true)],
  // Everything later reasons, and refuses a temperature while it does.
  [/^/, row('none', 'effort', true, true)],
];

const ANTHROPIC: readonly Row[] = [
  [/^claude-(2|3|instant)/, row('temperature', 'budget', false)],
  [/^claude-(opus|sonnet)-4-(0|2)/, row('temperature', 'budget', false)],
  // Temperature or top-p, not both; thinking by a budget, off unless asked for.
  [/^claude-(opus|sonnet|haiku)-4-[1-6]/, row('temperature', 'budget', true)],
  // Adaptive thinking; settings of sampling are refused.
  [/^/, row('none', 'effort', true, true)],
];

/** Servers of one's own: vLLM, llama.cpp, Ollama, LM Studio take what OpenAI's first chat models took, and top_k. */
const CHAT: readonly Row[] = [[/^/, { ...row('all', 'none', false), seed: true }]];

export function familyOf(driver: 'openai' | 'anthropic' | 'chat', model: string): Family {
  const table = { openai: OPENAI, anthropic: ANTHROPIC, chat: CHAT }[driver];
  // Fine-tuned models are called ft:BASE:..., and may stand behind a vendor's prefix.
  const name = model.replace(/^ft:/, '').replace(/^[\w.-]+\//, '');
  return table.find(([pattern]) => pattern.test(name))![1];
}

function row(sampling: Family['sampling'], thinking: Family['thinking'], structured: boolean, thinks = false): Family {
  return { sampling, thinking, structured, thinks, seed: false };
}
