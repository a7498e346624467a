/** Text analysis, pure: tokens, stems, stop words, identifiers. */
export { ANALYZERS, type Analyzer, type AnalyzerName, type AsciiRuns, createAnalyzer } from './analyzer.ts';
export { splitIdentifier } from './identifiers.ts';
export { segmentedWords, sentenceEnds, wordSegments } from './segments.ts';
export { SNOWBALL_LANGUAGES, type SnowballLanguage } from './snowball.ts';
export { ENGLISH_STOP_WORDS } from './stopwords.ts';
export { tokenize, words } from './tokenize.ts';
