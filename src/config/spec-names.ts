/** From a block back to what people call it: one rule for tables, logs, reports and artefacts. */
import { NAMES, PREFIXES, type SpecKind } from './names.ts';
import { formatSettings, settingsOf } from './short-form.ts';
import { BLOCKS } from './specs.ts';

type Spec = Readonly<Record<string, unknown>>;

/** The short name of a block, as it is typed: 'bm25', 'lsa', 'onnx:DIR'. Settings are not part of it. */
export function specName(kind: SpecKind, block: Spec): string {
  return shortForm(kind, block).name;
}

/** All that a block says, in the notation of the command line: 'bm25:k1=0.9,b=0.4,analyzer=english,statistics=recompute'. */
export function describeSpec(kind: SpecKind, block: Spec): string {
  const { name, stands } = shortForm(kind, block);
  return formatSettings(name, settingsOf(block, stands));
}

/**
 * Names for several blocks side by side: short ones; where two would be the same, with the settings that are not the
 * defaults, and where even these agree, with a number.
 */
export function distinctNames(kind: SpecKind, blocks: readonly Spec[]): string[] {
  const forms = blocks.map((block) => shortForm(kind, block));
  const short = forms.map(({ name }) => name);
  const clash = (names: readonly string[], i: number): boolean =>
    names.indexOf(names[i]) !== names.lastIndexOf(names[i]);
  const full = blocks.map((block, i) => {
    if (!clash(short, i)) return short[i];
    const { stands } = forms[i];
    const plain = BLOCKS[kind].safeParse(stands);
    return formatSettings(short[i], settingsOf(block, plain.success ? plain.data : stands));
  });
  const seen = new Map<string, number>();
  return full.map((name) => {
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return nth === 1 ? name : `${name} #${nth}`;
  });
}

/** The name that a block would be typed by, and the block that the name alone stands for. */
function shortForm(kind: SpecKind, block: Spec): { name: string; stands: Spec } {
  for (const [name, stands] of Object.entries(NAMES[kind])) if (holds(block, stands)) return { name, stands };
  for (const [prefix, { block: expand }] of Object.entries(PREFIXES[kind])) {
    const own = (rest: string): Spec => expand(rest, refuse);
    const argument = argumentOf(block, expanded(own, ARGUMENT)) ?? servedModel(block, own);
    if (argument !== undefined) return { name: `${prefix}:${argument}`, stands: own(argument) };
  }
  if (block.driver === 'fusion') {
    const parts = block.retrievers as readonly Spec[];
    return {
      name: `fusion:${parts.map((part) => specName(kind, part)).join('+')}`,
      stands: { driver: 'fusion', retrievers: parts },
    };
  }
  return { name: String(block.driver), stands: { driver: block.driver } };
}

/** Forms that hold other forms have names of their own. */
function refuse(): never {
  throw new Error('no form inside a form here');
}

/** Looks like a path, and like the address of a service. */
const ARGUMENT = 'http://argument.invalid';

/** What a prefixed form makes of its argument, with a stand-in; undefined where it takes it apart. */
function expanded(expand: (rest: string) => Spec, argument: string): Spec | undefined {
  try {
    return expand(argument);
  } catch {
    return undefined;
  }
}

/** URL#MODEL of a block that says both. */
function servedModel({ driver, url, model }: Spec, expand: (rest: string) => Spec): string | undefined {
  if (typeof url !== 'string' || typeof model !== 'string') return undefined;
  const argument = `${url}#${model}`;
  const said = expanded(expand, argument);
  return said !== undefined && said.driver === driver && said.url === url && said.model === model
    ? argument
    : undefined;
}

/** What stands in a block where its pattern has the argument; undefined when the block is not of that pattern. */
function argumentOf(block: unknown, pattern: unknown): string | undefined {
  if (pattern === ARGUMENT) return typeof block === 'string' ? block : undefined;
  if (typeof pattern !== 'object' || pattern === null || typeof block !== 'object' || block === null) return undefined;
  let found: string | undefined;
  for (const [key, part] of Object.entries(pattern)) {
    const own = (block as Record<string, unknown>)[key];
    const inner = argumentOf(own, part);
    if (inner !== undefined) found = inner;
    else if (typeof part === 'object' || part !== own) return undefined;
  }
  return found;
}

/** Whether a block says at least what another one does. */
function holds(block: unknown, stands: unknown): boolean {
  if (typeof stands !== 'object' || stands === null) return block === stands;
  if (typeof block !== 'object' || block === null) return false;
  return Object.entries(stands).every(([key, value]) => holds((block as Record<string, unknown>)[key], value));
}
