import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { instructionFor, messagesFor, PRESET_VERSION } from '../../../../../src/models/policies/lm/prompts.ts';

test('the presets are those of their version: whoever changes a text raises the version', () => {
  const texts = (['code', 'prose'] as const).flatMap((domain) =>
    (['append', 'replace'] as const).map((output) => messagesFor(instructionFor(domain, output, ''), 'x')),
  );
  const hash = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 12);
  expect({ version: PRESET_VERSION, hash }).toEqual({ version: 2, hash: '5efe1e10a573' });
});

test('the presets for prose ask for the language of the document', () => {
  expect(instructionFor('prose', 'append', '')).toContain('in the language of this document');
  expect(instructionFor('prose', 'replace', '')).toContain('in its own language');
});
