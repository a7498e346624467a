/**
 * A language model policy as files: policy.json, the trained weights (an adapter as PEFT writes it, or a whole model), the
 * anchor, and the optimiser's moments. The base model is not copied: it is named, with a fingerprint.
 */
import type { PolicySpec } from '../../../config/specs.ts';
import { DocOptError } from '../../../errors.ts';
import type { AdamWState } from '../../../nn/adamw.ts';
import type { LoraConfig } from '../../../nn/lora.ts';
import { LINEARS } from '../../../nn/model-config.ts';
import type { ArtefactReader, ArtefactWriter } from '../../../ports.ts';
import { parseSafetensors, safetensorsChunks } from '../../lm/safetensors.ts';

export type LmPolicySpec = Extract<PolicySpec, { driver: 'lm' }>;

export interface LmPolicyFile {
  readonly driver: 'lm';
  readonly format: number;
  readonly spec: LmPolicySpec;
  /** Of the base model. */
  readonly model: string;
  /** Optimiser steps so far. */
  readonly step: number;
}

export interface TrainedState {
  readonly lora: LoraConfig | undefined;
  readonly weights: Map<string, Float32Array>;
  readonly reference: Map<string, Float32Array>;
  readonly optimiser: AdamWState;
}

const FORMAT = 1;
export const POLICY_FILE = 'policy.json';
const ADAPTER = 'adapter_model.safetensors';
const ADAPTER_CONFIG = 'adapter_config.json';
/** What PEFT loads. */
export const ADAPTER_FILES = [ADAPTER_CONFIG, ADAPTER] as const;
const WHOLE = 'model.safetensors';
const REFERENCE = 'reference.safetensors';
const OPTIMISER = 'optimizer.safetensors';
/** PEFT wraps the model twice before its own names begin. */
const PEFT = 'base_model.model.';

/** The adapter that these settings train; undefined = all weights are. */
export function loraOf({ training, rank, alpha }: LmPolicySpec): LoraConfig | undefined {
  return training === 'lora' ? { rank, alpha, targets: LINEARS } : undefined;
}

export async function writeLmCheckpoint(
  artefact: ArtefactWriter,
  spec: LmPolicySpec,
  model: string,
  state: TrainedState,
  shapes: ReadonlyMap<string, readonly number[]>,
): Promise<void> {
  const { lora, weights, reference, optimiser } = state;
  const tensors = (values: ReadonlyMap<string, Float32Array>, rename: (name: string) => string) =>
    safetensorsChunks(
      [...values].map(([name, data]) => ({ name: rename(name), shape: shapes.get(name)!, values: data })),
    );
  const peft = (name: string): string => (lora === undefined ? name : PEFT + name);
  const file: LmPolicyFile = { driver: 'lm', format: FORMAT, spec, model, step: optimiser.step };
  await artefact.write(POLICY_FILE, `${JSON.stringify(file, null, 1)}\n`);
  if (lora !== undefined) await artefact.write(ADAPTER_CONFIG, `${JSON.stringify(peftConfig(lora, spec), null, 1)}\n`);
  await artefact.writeStream(lora === undefined ? WHOLE : ADAPTER, tensors(weights, peft));
  await artefact.writeStream(REFERENCE, tensors(reference, peft));
  const moments = new Map([
    ...[...optimiser.mean].map(([name, data]) => [`mean.${name}`, data] as const),
    ...[...optimiser.square].map(([name, data]) => [`square.${name}`, data] as const),
  ]);
  await artefact.writeStream(
    OPTIMISER,
    safetensorsChunks(
      [...moments].map(([name, values]) => ({ name, shape: shapes.get(name.replace(/^\w+\./, ''))!, values })),
    ),
  );
}

function peftConfig({ rank, alpha, targets, layers }: LoraConfig, spec: LmPolicySpec): object {
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: spec.path,
    r: rank,
    lora_alpha: alpha,
    lora_dropout: 0,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    target_modules: targets.map((name) => name.split('.')[1]),
    layers_to_transform: layers ?? null,
  };
}

/** Throws ARTEFACT when the folder holds no such policy, or one of a newer format. */
export async function readLmPolicyFile(artefact: ArtefactReader): Promise<LmPolicyFile> {
  const file = artefact.has(POLICY_FILE) ? await artefact.readJson<LmPolicyFile>(POLICY_FILE) : undefined;
  if (file?.driver !== 'lm') {
    throw new DocOptError('ARTEFACT', `'${artefact.folder}' holds no policy of the driver 'lm'`, {
      hint: 'Give the folder of an experiment that trained one: docopt train --policy lm:MODEL ...',
    });
  }
  if (file.format > FORMAT) {
    throw new DocOptError(
      'ARTEFACT',
      `the policy in '${artefact.folder}' has format ${file.format}; this build reads up to ${FORMAT}`,
      { hint: 'Update docopt-ir, or train again with this version.' },
    );
  }
  return file;
}

/** Everything but policy.json, which the caller has read. */
export async function readLmState(
  artefact: ArtefactReader,
  { step }: LmPolicyFile,
  lora: LoraConfig | undefined,
): Promise<TrainedState> {
  const read = async (name: string): Promise<Map<string, Float32Array>> => {
    const tensors = await parseSafetensors(`${artefact.folder}/${name}`, await artefact.read(name));
    return new Map([...tensors].map(([key, values]) => [key.startsWith(PEFT) ? key.slice(PEFT.length) : key, values]));
  };
  const moments = await read(OPTIMISER);
  const part = (prefix: string): Map<string, Float32Array> =>
    new Map(
      [...moments].filter(([name]) => name.startsWith(prefix)).map(([name, data]) => [name.slice(prefix.length), data]),
    );
  return {
    lora,
    weights: await read(lora === undefined ? WHOLE : ADAPTER),
    reference: await read(REFERENCE),
    optimiser: { step, mean: part('mean.'), square: part('square.') },
  };
}
