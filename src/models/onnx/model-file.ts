/** Which .onnx file of a model folder is meant, and what its bytes say of it. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { DocOptError } from '../../errors.ts';

export type Precision = 'fp32' | 'fp16' | 'int8';

/** Names that exporters give, by precision, best known first; each is looked for in `onnx/` and in the folder itself. */
const FILES: Readonly<Record<Precision, readonly string[]>> = {
  fp32: ['model.onnx'],
  fp16: ['model_fp16.onnx'],
  int8: ['model_int8.onnx', 'model_quantized.onnx', 'model_qint8_avx512_vnni.onnx', 'model_uint8.onnx'],
};

export interface ModelFile {
  /** The folder with config and tokenizer. */
  readonly folder: string;
  readonly path: string;
}

/**
 * `place` is a folder in the Hugging Face layout, or a .onnx file inside one. `file` names one of several; else
 * `precision` does; else the full one is taken, or the only one. Throws DATA that lists what is there.
 */
export function locateModel(place: string, choice: { file?: string; precision?: Precision } = {}): ModelFile {
  const path = resolve(place);
  const stats = existsSync(path) ? statSync(path) : undefined;
  if (stats === undefined) {
    throw new DocOptError('DATA', `there is no model folder ${place}`, {
      hint: /^[\w.-]+\/[\w.-]+$/.test(place)
        ? `A model of the Hugging Face hub is named hf:${place}.`
        : 'Give a folder with tokenizer.json and model.onnx (or onnx/model.onnx), as a Hugging Face repository has them.',
    });
  }
  if (stats.isFile()) {
    const own = dirname(path);
    const above = basename(own) === 'onnx' && !existsSync(join(own, 'tokenizer.json'));
    return { folder: above ? dirname(own) : own, path };
  }
  return { folder: path, path: join(path, chooseModel(place, onnxFiles(path), choice)) };
}

/** One of the .onnx files of `place`, by name. Throws DATA that lists them. */
export function chooseModel(
  place: string,
  there: readonly string[],
  choice: { readonly file?: string; readonly precision?: Precision },
): string {
  const wanted = choice.file !== undefined ? [choice.file] : choice.precision && withFolders(FILES[choice.precision]);
  const taken = (wanted ?? withFolders(FILES.fp32)).find((name) => there.includes(name));
  const found = taken ?? (wanted === undefined && there.length === 1 ? there[0] : undefined);
  if (found !== undefined) return found;
  const what = wanted === undefined ? 'model.onnx' : wanted.join(' or ');
  throw new DocOptError('DATA', `${place} holds no ${what}; its .onnx files: ${there.join(', ') || 'none'}`, {
    hint:
      there.length > 0
        ? 'Name one with the key `file`, or choose a `precision`.'
        : 'Export the model to ONNX first, or take a folder that has it.',
  });
}

function withFolders(names: readonly string[]): string[] {
  return names.flatMap((name) => [name, `onnx/${name}`]);
}

function onnxFiles(folder: string): string[] {
  return ['', 'onnx'].flatMap((below) => {
    const at = join(folder, below);
    if (!existsSync(at) || !statSync(at).isDirectory()) return [];
    const names = readdirSync(at).filter((name) => name.endsWith('.onnx'));
    return names.sort().map((name) => relative(folder, join(at, name)).replaceAll('\\', '/'));
  });
}

export interface ModelFacts {
  /** sha256 of the .onnx file, hex. */
  readonly sha256: string;
  /**
   * Whether activations are quantized by a scale taken from the whole batch while it runs. Then a text's vector depends on
   * the company it is in and on padding, and exactness needs one text per call.
   */
  readonly dynamic: boolean;
}

/** Operators that choose their scale at run time, as their names stand in the file. */
const DYNAMIC = ['DynamicQuantizeLinear', 'DynamicQuantizeMatMul', 'DynamicQuantizeLSTM'].map((name) =>
  Buffer.from(name, 'latin1'),
);
const OVERLAP = 32;

/** Reads the file once. */
export async function readModelFacts(path: string): Promise<ModelFacts> {
  const hash = createHash('sha256');
  let dynamic = false;
  let tail = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (dynamic) continue;
    const seam = Buffer.concat([tail, chunk.subarray(0, OVERLAP)]);
    dynamic = DYNAMIC.some((name) => chunk.includes(name) || seam.includes(name));
    tail = Buffer.from(chunk.subarray(Math.max(0, chunk.length - OVERLAP)));
  }
  return { sha256: hash.digest('hex'), dynamic };
}

/** Of a repository's files, what running one of its models needs: that .onnx file, its external data, and the small ones. */
export function neededFiles(
  place: string,
  names: readonly string[],
  choice: { readonly file?: string; readonly precision?: Precision },
): string[] {
  const models = names.filter((name) => /^(onnx\/)?[^/]+\.onnx$/.test(name));
  const model = chooseModel(place, models, choice);
  const isSmall = (name: string): boolean =>
    /^([^/]+\.json|artifact\.metadata|\d_[^/]+\/(config\.json|model\.safetensors))$/.test(name);
  return names.filter(
    (name) => name === model || name === `${model}_data` || name === `${model}.data` || isSmall(name),
  );
}
