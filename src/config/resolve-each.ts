/** Options for a command that must never stop at a wrong one: each is resolved for itself, and what is wrong is told beside the rest. */
import { z } from 'zod';
import { type DocOptError, toDocOptError } from '../errors.ts';
import { type OptionSources, resolveOptions } from './resolve.ts';

export interface Fault {
  /** The option, or 'configuration' for what belongs to none. */
  readonly name: string;
  readonly error: DocOptError;
}

/** As resolveOptions, but an option that does not resolve has its default, and a fault. */
export function resolveEach<S extends z.ZodObject>(
  schema: S,
  sources: OptionSources,
): { options: z.infer<S>; given: Set<string>; faults: Fault[] } {
  const faults: Fault[] = [];
  const options: Record<string, unknown> = {};
  const given = new Set<string>();
  const attempt = (name: string, work: () => void): void => {
    try {
      work();
    } catch (thrown) {
      faults.push({ name, error: toDocOptError(thrown) });
    }
  };
  const isKnown = (setting: string): boolean => Object.hasOwn(schema.shape, setting.split(/[.=]/)[0]);
  attempt('configuration', () => {
    resolveOptions(z.strictObject({}), {
      ...sources,
      flags: {},
      env: {},
      set: sources.set.filter((one) => !isKnown(one)),
    });
  });
  for (const [key, option] of Object.entries(schema.shape)) {
    const fallback = (option as z.ZodType).safeParse(undefined);
    if (fallback.success && fallback.data !== undefined) options[key] = fallback.data;
    attempt(key, () => {
      const own = resolveOptions(z.strictObject({ [key]: option as z.ZodType }), {
        ...sources,
        flags: Object.hasOwn(sources.flags, key) ? { [key]: sources.flags[key] } : {},
        set: sources.set.filter((setting) => setting.split(/[.=]/)[0] === key),
        file: fileOf(sources, key),
      });
      Object.assign(options, own.options);
      for (const name of own.given) given.add(name);
    });
  }
  return { options: options as z.infer<S>, given, faults };
}

/** What the file says of one option. */
function fileOf({ file, command }: OptionSources, key: string): OptionSources['file'] {
  if (file === undefined) return undefined;
  const { commands } = file.values;
  const section = isObject(commands) ? commands[command] : undefined;
  return {
    path: file.path,
    values: {
      ...(Object.hasOwn(file.values, key) ? { [key]: file.values[key] } : {}),
      ...(isObject(section) && Object.hasOwn(section, key) ? { commands: { [command]: { [key]: section[key] } } } : {}),
    },
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
