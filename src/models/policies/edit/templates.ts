/** All templates, and which of them a text triggers. */
import type { Template } from './template.ts';
import { LANGUAGE_TEMPLATES } from './templates-language.ts';
import { LIBRARY_TEMPLATES } from './templates-library.ts';

export const TEMPLATES: readonly Template[] = [...LANGUAGE_TEMPLATES, ...LIBRARY_TEMPLATES];

/** Characters that templates look at: constructs repeat, and a bundle triggers nearly everything anyway. */
const TEMPLATE_CHARACTERS = 20_000;

export function triggeredTemplates(text: string): Template[] {
  const read = text.length > TEMPLATE_CHARACTERS ? text.slice(0, TEMPLATE_CHARACTERS) : text;
  return TEMPLATES.filter(({ pattern }) => pattern.test(read));
}
