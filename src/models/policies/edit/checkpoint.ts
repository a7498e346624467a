/** An edit policy as files: policy.json for people and programs, knowledge.json for the tables. */
import { DocOptError } from '../../../errors.ts';
import type { ArtefactReader, ArtefactWriter } from '../../../ports.ts';
import { type AnalyzerName, createAnalyzer } from '../../../text/mod.ts';
import { createCandidates } from './candidates.ts';
import type { Knowledge } from './knowledge.ts';
import type { Operation } from './operations.ts';
import type { EditPolicyState } from './state.ts';
import type { TranslationTable } from './translation.ts';
import { namedWeights, weightsFrom } from './weights.ts';

const FORMAT = 1;
const POLICY = 'policy.json';
const KNOWLEDGE = 'knowledge.json';

interface PolicyFile {
  readonly driver: 'edit';
  readonly format: number;
  readonly analyzer: AnalyzerName;
  readonly operations: readonly Operation[];
  readonly init: string;
  readonly weights: Readonly<Record<string, number>>;
  readonly reference: Readonly<Record<string, number>>;
  readonly adam: {
    readonly step: number;
    readonly mean: Readonly<Record<string, number>>;
    readonly square: Readonly<Record<string, number>>;
  };
}

export async function writeCheckpoint(artefact: ArtefactWriter, state: EditPolicyState): Promise<void> {
  const { candidates, adam } = state;
  const policy: PolicyFile = {
    driver: 'edit',
    format: FORMAT,
    analyzer: candidates.analyzer.id,
    operations: candidates.operations,
    init: state.init,
    weights: namedWeights(state.weights),
    reference: namedWeights(state.reference),
    adam: { step: adam.step, mean: namedWeights(adam.mean), square: namedWeights(adam.square) },
  };
  await artefact.write(POLICY, `${JSON.stringify(policy, null, 1)}\n`);
  await artefact.write(KNOWLEDGE, JSON.stringify(knowledgeToJson(candidates.knowledge)));
}

/** Throws ARTEFACT when the folder holds no edit policy, or one of a newer format. */
export async function readCheckpoint(artefact: ArtefactReader): Promise<EditPolicyState> {
  const policy = await readPolicyFile(artefact);
  const knowledge = knowledgeFromJson(await artefact.readJson<KnowledgeFile>(KNOWLEDGE));
  return {
    candidates: createCandidates(knowledge, createAnalyzer(policy.analyzer), policy.operations),
    init: policy.init,
    weights: weightsFrom(policy.weights),
    reference: weightsFrom(policy.reference),
    adam: { step: policy.adam.step, mean: weightsFrom(policy.adam.mean), square: weightsFrom(policy.adam.square) },
  };
}

/** Only the weights of a saved edit policy, to start another training from. */
export async function readWeights(artefact: ArtefactReader): Promise<Readonly<Record<string, number>>> {
  return (await readPolicyFile(artefact)).weights;
}

async function readPolicyFile(artefact: ArtefactReader): Promise<PolicyFile> {
  if (!artefact.has(POLICY)) {
    throw new DocOptError('ARTEFACT', `'${artefact.folder}' holds no edit policy: there is no ${POLICY}`, {
      hint: 'Give the folder of an experiment that trained one: docopt train --policy edit ...',
    });
  }
  const policy = await artefact.readJson<PolicyFile>(POLICY);
  if (policy.driver !== 'edit') {
    throw new DocOptError(
      'ARTEFACT',
      `'${artefact.folder}' holds a policy of the driver '${policy.driver}', not 'edit'`,
    );
  }
  if (policy.format > FORMAT) {
    throw new DocOptError(
      'ARTEFACT',
      `the edit policy in '${artefact.folder}' has format ${policy.format}; this build reads up to ${FORMAT}`,
      { hint: 'Update docopt-ir, or train again with this version.' },
    );
  }
  return policy;
}

interface KnowledgeFile {
  readonly documents: number;
  readonly averageLength: number;
  readonly frequencies: readonly (readonly [string, number])[];
  readonly surfaces: readonly (readonly [string, string])[];
  readonly families: readonly (readonly [string, readonly string[]])[];
  readonly foldOf: readonly (readonly [string, number])[];
  readonly translation: { readonly all: TranslationTable; readonly folds: readonly TranslationTable[] };
  readonly self: TranslationTable;
}

function knowledgeToJson(knowledge: Knowledge): KnowledgeFile {
  const { documents, averageLength, translation, self } = knowledge;
  return {
    documents,
    averageLength,
    frequencies: [...knowledge.frequencies],
    // A term that is written as it is spelled needs no entry.
    surfaces: [...knowledge.surfaces].filter(([term, word]) => term !== word),
    families: [...knowledge.families],
    foldOf: [...knowledge.foldOf],
    translation,
    self,
  };
}

function knowledgeFromJson(file: KnowledgeFile): Knowledge {
  return {
    documents: file.documents,
    averageLength: file.averageLength,
    frequencies: new Map(file.frequencies),
    surfaces: new Map(file.surfaces),
    families: new Map(file.families),
    foldOf: new Map(file.foldOf),
    translation: file.translation,
    self: file.self,
  };
}
