/** `docopt model show` and `docopt model export`: language models, trained ones among them, as files. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandContext, defineCommand } from '../../src/config/command.ts';
import { modelExportSchema, modelShowSchema } from '../../src/config/schemas/mod.ts';
import { makeFolder, writeFileAtomic } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { describeModel, type ModelDescription } from '../../src/models/lm/describe-model.ts';
import { mergeAdapter, writeModelFolder } from '../../src/models/lm/export-model.ts';
import { loadModel } from '../../src/models/lm/load-model.ts';
import {
  ADAPTER_FILES,
  type LmPolicyFile,
  loraOf,
  readLmPolicyFile,
  readLmState,
} from '../../src/models/policies/lm/checkpoint.ts';
import { modelFingerprint } from '../../src/models/policies/lm/model-fingerprint.ts';
import { sizeOf } from '../../src/nn/graph.ts';
import { loraParameters } from '../../src/nn/lora.ts';
import type { ArtefactReader } from '../../src/ports.ts';
import { latest } from '../../src/store/workspace.ts';
import { openPolicyFiles } from '../open-policy.ts';

export const modelShowCommand = defineCommand({
  name: 'model show',
  summary:
    'What a language model is: family, size, number formats, context, chat template, licence; of a training, its adapter.',
  details: 'Only headers are read. A name on the hub (ORG/NAME) is fetched first when it is not here yet.',
  schema: modelShowSchema,
  examples: [
    ['docopt model show model.gguf', 'a GGUF file'],
    ['docopt model show experiments/a', 'a training: its base model and what was trained on it'],
    ['docopt model show --json', 'the latest training, for scripts'],
  ],
  async run({ model }, context) {
    const name = model ?? latestExperiment(context);
    if (!isExperiment(name)) {
      const description = await describeModel(name, context);
      return { json: description, text: lines(name, description).join('\n') };
    }
    const file = await readLmPolicyFile(await openPolicyFiles(name));
    const base = await describeModel(file.spec.path, context);
    const trained = trainedPart(file, base);
    return {
      json: { ...base, trained },
      text: [...lines(file.spec.path, base), ...trainedLines(trained)].join('\n'),
    };
  },
});

export const modelExportCommand = defineCommand({
  name: 'model export',
  summary:
    'Writes a trained language model for other tools: its adapter as PEFT has it, or the whole model as a Hugging Face folder.',
  details:
    'The checkpoint that the training chose is taken. `--merged` adds the adapter to the base weights, in single precision: load it\nwith AutoModelForCausalLM.from_pretrained(DIR), or as lm:DIR. Folders that hold anything are not written to.',
  schema: modelExportSchema,
  examples: [
    [
      'docopt model export experiments/a --merged models/a',
      'the whole model, for transformers, vLLM, llama.cpp converters',
    ],
    ['docopt model export experiments/a --adapter adapters/a', 'the adapter alone, for PeftModel.from_pretrained'],
    ['docopt model export --merged models/latest', 'of the latest training'],
  ],
  async run({ experiment, adapter, merged }, context) {
    if (adapter === undefined && merged === undefined) {
      throw new DocOptError('USAGE', 'what is to be exported? --adapter DIR or --merged DIR is missing', {
        hint: 'E.g. docopt model export experiments/a --merged models/a',
      });
    }
    const folder = experiment ?? latestExperiment(context);
    for (const target of [adapter, merged]) if (target !== undefined) refuseFilled(target);
    const files = await openPolicyFiles(folder);
    const file = await readLmPolicyFile(files);
    if (adapter !== undefined) await exportAdapter(files, file, adapter);
    if (merged !== undefined) await exportMerged(files, file, merged, context);
    const written = [adapter, merged].filter((target) => target !== undefined);
    return { json: { experiment: folder, adapter, merged, step: file.step }, text: `wrote ${written.join(' and ')}` };
  },
});

function latestExperiment({ projectFolder, log }: CommandContext): string {
  const found = latest(projectFolder, 'experiment');
  if (found === undefined) {
    throw new DocOptError('USAGE', 'which model? None is named, and there is no training under .docopt/', {
      hint: 'Give a GGUF file, a Hugging Face folder, a name on the hub, or the folder of a training.',
    });
  }
  log.info(`experiment: ${found} (the latest)`);
  return found;
}

function isExperiment(name: string): boolean {
  return existsSync(join(name, 'checkpoints'));
}

function refuseFilled(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  throw new DocOptError('USAGE', `${folder} is not empty`, { hint: 'Choose another folder; nothing is written over.' });
}

async function exportAdapter(files: ArtefactReader, file: LmPolicyFile, folder: string): Promise<void> {
  if (loraOf(file.spec) === undefined) {
    throw new DocOptError('USAGE', 'this training changed all weights: there is no adapter', {
      hint: 'Export the whole model: --merged DIR.',
    });
  }
  await makeFolder(folder);
  for (const name of ADAPTER_FILES) await writeFileAtomic(join(folder, name), [await files.read(name)]);
}

async function exportMerged(
  files: ArtefactReader,
  file: LmPolicyFile,
  folder: string,
  context: CommandContext,
): Promise<void> {
  const loaded = await loadModel(file.spec.path, context);
  if (modelFingerprint(loaded.config, loaded.weights) !== file.model) {
    throw new DocOptError('ARTEFACT', `${file.spec.path} is not the model that was trained`, {
      hint: 'Put the base model back as it was.',
    });
  }
  const lora = loraOf(file.spec);
  const { weights } = await readLmState(files, file, lora);
  const whole = lora === undefined ? weights : mergeAdapter(loaded.config, loaded.weights, { config: lora, weights });
  await makeFolder(folder);
  await writeModelFolder(loaded, whole, folder);
}

interface TrainedPart {
  readonly training: 'lora' | 'full';
  /** Optimiser steps of the checkpoint that was chosen. */
  readonly step: number;
  readonly rank?: number;
  readonly alpha?: number;
  readonly targets?: readonly string[];
  readonly parameters: number;
  readonly output: string;
  readonly prompt: string;
}

function trainedPart({ spec, step }: LmPolicyFile, { config, parameters }: ModelDescription): TrainedPart {
  const { training, output, prompt } = spec;
  const lora = loraOf(spec);
  if (lora === undefined) return { training, step, parameters, output, prompt };
  const { rank, alpha, targets } = lora;
  const own = loraParameters(config, lora).reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  return { training, step, rank, alpha, targets, parameters: own, output, prompt };
}

function lines(name: string, description: ModelDescription): string[] {
  const { config, formats, parameters, licence, endTokens } = description;
  const stored = Object.entries(formats)
    .sort(([, a], [, b]) => b - a)
    .map(([format, count]) => `${format} ${((100 * count) / sum(Object.values(formats))).toFixed(1)} %`);
  const heads = `${config.heads} heads of ${config.headSize}, ${config.keyValueHeads} of keys and values`;
  const special = [
    config.tiedHead ? 'tied head' : 'head of its own',
    ...(config.queryKeyNorm ? ['norms of q and k'] : []),
    ...(config.queryKeyValueBias ? ['biases of q, k and v'] : []),
    ...(config.ropeScaling === undefined ? [] : [`positions scaled (${config.ropeScaling.type})`]),
  ];
  return [
    name,
    `  path          ${description.path}`,
    `  family        ${config.family}: ${config.layers} layers, width ${config.hiddenSize} and ${config.intermediateSize}, ${heads}; ${special.join(', ')}`,
    `  parameters    ${parameters.toLocaleString('en')}`,
    `  quantisation  ${stored.join(', ')}`,
    `  size          ${megabytes(description.bytesOnDisk)} on disk, ${megabytes(description.bytesInMemory)} in memory (single precision)`,
    `  context       ${config.maxPositions.toLocaleString('en')} tokens`,
    `  vocabulary    ${config.vocabularySize.toLocaleString('en')} tokens; an answer ends at ${endTokens.join(', ') || 'none of them'}`,
    `  template      ${description.chatTemplate === null ? 'none: not trained to follow instructions, it cannot rewrite' : `chat, ${description.chatTemplate.length} characters`}`,
    `  licence       ${licence ?? 'not stated in its files'}`,
  ];
}

function trainedLines(trained: TrainedPart): string[] {
  const { rank, alpha, targets, parameters, step } = trained;
  const what =
    targets === undefined
      ? 'all weights'
      : `adapter of rank ${rank}, alpha ${alpha}, on ${targets.map((one) => one.split('.')[1]).join(', ')}`;
  return [
    `  trained       ${what}: ${parameters.toLocaleString('en')} parameters, ${step} steps`,
    `  writes        ${trained.output === 'append' ? 'a text below the document' : 'a text in place of the document'}; prompt ${JSON.stringify(trained.prompt)}`,
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
