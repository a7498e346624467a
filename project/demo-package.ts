/** The code that the demo runs on: a well-known package, pinned, MIT, read as text only. */
export const DEMO_PACKAGE = { name: 'es-toolkit', version: '1.53.2' } as const;

/** Questions as a user would ask them; none is a sentence of the package's comments. */
export const DEMO_QUESTIONS = [
  'wait until the user stops typing before calling',
  'remove duplicates from a list',
  'run only a few promises at the same time',
] as const;
