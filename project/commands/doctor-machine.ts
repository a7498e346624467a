/** What `docopt doctor` says of the machine: versions, optional packages, keys, the place to write to. */
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { version } from '../../src/run/version.ts';
import type { Check } from './doctor-check.ts';

export function runtime(): Check {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 11);
  return {
    name: 'node',
    ok,
    detail: `${process.version}, docopt-ir ${version}`,
    remedy: ok ? '' : 'Install Node 20.11 or newer.',
  };
}

export function machine(): Check {
  const gigabytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
  return {
    name: 'machine',
    ok: true,
    detail: `${availableParallelism()} cores, ${gigabytes(totalmem())} GiB memory, ${gigabytes(freemem())} free`,
    remedy: '',
  };
}

/** Packages that hold native code or are optional: the ones that may be missing or broken on a machine. */
const PACKAGES = [
  { name: 'libsql', required: true, use: 'caches of answers' },
  { name: 'onnxruntime-node', required: false, use: 'onnx: and lm: names' },
] as const;

export async function packages(): Promise<Check[]> {
  return Promise.all(
    PACKAGES.map(async ({ name, required, use }): Promise<Check> => {
      try {
        await import(name);
        return { name, ok: true, detail: `${installedVersion(name) ?? 'installed'} (${use})`, remedy: '' };
      } catch (error) {
        const isMissing = installedVersion(name) === undefined;
        return {
          name,
          // What is optional may be absent; what is there must load.
          ok: isMissing && !required,
          detail: isMissing ? `not installed (${use})` : `does not load: ${firstLine(error)}`,
          remedy: `${isMissing && !required ? 'Only where it is used: ' : ''}npm install ${name}`,
        };
      }
    }),
  );
}

function installedVersion(name: string): string | undefined {
  try {
    return (createRequire(import.meta.url)(`${name}/package.json`) as { version: string }).version;
  } catch {
    return undefined;
  }
}

function firstLine(error: unknown): string {
  return String((error as Error).message ?? error).split('\n')[0];
}

/** Where the keys of services are looked for. Only whether they are there is ever told. */
const KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'COHERE_API_KEY', 'JINA_API_KEY', 'VOYAGE_API_KEY', 'HF_TOKEN'];

export function keys(env: Readonly<Record<string, string | undefined>>): Check {
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== '';
  const set = KEYS.filter(isSet);
  const unset = KEYS.filter((name) => !isSet(name));
  const detail = [
    set.length === 0 ? 'none set' : `set: ${set.join(' ')}`,
    unset.length === 0 ? '' : `not set: ${unset.join(' ')}`,
  ];
  return { name: 'keys', ok: true, detail: detail.filter((part) => part !== '').join('; '), remedy: '' };
}

export function projectFolder(folder: string): Check {
  try {
    accessSync(folder, constants.W_OK);
    return { name: 'project folder', ok: true, detail: folder, remedy: '' };
  } catch {
    return {
      name: 'project folder',
      ok: false,
      detail: `${folder} is not writable`,
      remedy: 'Pass --out to every command, or change the permissions.',
    };
  }
}
