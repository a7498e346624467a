/** Stemmers of the Snowball project for two dozen languages. */
import { createRequire } from 'node:module';

export const SNOWBALL_LANGUAGES = [
  'arabic',
  'armenian',
  'basque',
  'catalan',
  'czech',
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'hungarian',
  'irish',
  'italian',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'slovene',
  'spanish',
  'swedish',
  'tamil',
  'turkish',
] as const;

export type SnowballLanguage = (typeof SNOWBALL_LANGUAGES)[number];

/** The stem of a lower-case word; the word itself where stemming would leave nothing. */
export function snowballStemmer(language: SnowballLanguage): (word: string) => string {
  // All languages are one large file, which nobody should wait for who does not stem by it.
  const require = createRequire(import.meta.url);
  const { newStemmer } = require('snowball-stemmers') as typeof import('snowball-stemmers');
  const stemmer = newStemmer(language);
  return (word) => stemmer.stem(word) || word;
}
