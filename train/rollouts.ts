/** What is asked of the policy: G rewrites of some documents to learn from, or one rewrite of every document to index. */
import type { Policy } from '../src/ports.ts';
import type { Completion, Corpus, IndexText, Prompt, Sampling } from '../src/types.ts';
import { breathe } from './breathe.ts';
import type { DrawOptions } from './options.ts';

/** Turns a document into a request; policies that speak chat need messages with it. */
export type PromptFor = (document: IndexText) => Prompt;

export const plainPrompt: PromptFor = (document) => ({ document });

export interface Rollout {
  /** Position in the corpus. */
  readonly document: number;
  readonly prompt: Prompt;
  readonly completions: readonly Completion[];
}

/**
 * G rewrites of each document, always of its ORIGINAL index text: rewrites of rewrites would drift. Completions that
 * failed (an API error) are dropped, and with fewer than two left so is the document.
 */
export async function rollouts(
  policy: Policy,
  corpus: Corpus,
  documents: readonly number[],
  sampling: Sampling,
  promptFor: PromptFor,
): Promise<Rollout[]> {
  const prompts = documents.map((position) => promptFor(originalText(corpus, position)));
  const answers = await policy.generate(prompts, sampling);
  return documents
    .map((document, i) => ({
      document,
      prompt: prompts[i],
      completions: answers[i].filter((completion) => completion.finish !== 'error'),
    }))
    .filter((rollout) => rollout.completions.length >= 2);
}

export interface RewriteAllRequest {
  readonly policy: Policy;
  /** With the original index texts. */
  readonly corpus: Corpus;
  readonly sampling: Sampling;
  readonly signal?: AbortSignal;
  onProgress?(documents: number): void;
}

/** Rewrites a whole collection: texts by position. */
export type RewriteAll = (request: RewriteAllRequest) => Promise<string[]>;

/** Between two batches an interruption is heard and progress is shown: a language model takes seconds for a document. */
const BATCH = 64;

/** Straight through the policy. A rewrite that failed, was refused or came out empty leaves the document as it is. */
export function rewriteAllWith(promptFor: PromptFor): RewriteAll {
  return async ({ policy, corpus, sampling, signal, onProgress }) => {
    const texts: string[] = [];
    for (let start = 0; start < corpus.size; start += BATCH) {
      await breathe();
      signal?.throwIfAborted();
      const end = Math.min(corpus.size, start + BATCH);
      const documents = Array.from({ length: end - start }, (_, i) => originalText(corpus, start + i));
      const answers = await policy.generate(documents.map(promptFor), { ...sampling, samples: 1 });
      answers.forEach(([completion], i) => {
        const usable = completion.finish === 'stop' || completion.finish === 'length';
        texts.push(usable && completion.text.trim() !== '' ? completion.text : documents[i].text);
      });
      onProgress?.(end - start);
    }
    return texts;
  };
}

export function sampling(draw: DrawOptions, samples: number, seed: number): Sampling {
  return { ...draw, samples, seed };
}

function originalText(corpus: Corpus, position: number): IndexText {
  return { id: corpus.ids[position], text: corpus.indexText(position) };
}
