/**
 * Is a collection code or prose? The edit policy helps on code and measurably does not on plain text, so a training
 * without a chosen policy asks this first. Judged line by line from what stands between words: in prose a space or a
 * punctuation mark and a space, in code operators, brackets, dots and underscores.
 */
export interface Domain {
  readonly domain: 'code' | 'prose';
  /** Share of the looked-at texts that are code, 0..1. */
  readonly share: number;
}

/** Texts and characters of each that are looked at: enough for any collection, cheap for the largest. */
const MAX_TEXTS = 1000;
const MAX_CHARACTERS = 4000;

/** Reads at most the first 1,000 texts; texts without a judgement (empty, numbers only) do not count. Nothing to judge is prose. */
export function detectDomain(texts: Iterable<string>): Domain {
  let code = 0;
  let judged = 0;
  let seen = 0;
  for (const text of texts) {
    if (seen++ >= MAX_TEXTS) break;
    const share = codeShare(text);
    if (share === undefined) continue;
    judged++;
    if (share >= 0.5) code++;
  }
  const share = judged === 0 ? 0 : code / judged;
  return { domain: share >= 0.5 ? 'code' : 'prose', share };
}

/** Share of a text's characters that stand in lines of code; undefined when no line says anything. */
export function codeShare(text: string): number | undefined {
  let code = 0;
  let all = 0;
  for (const line of text.slice(0, MAX_CHARACTERS).split(/\r\n?|\n/)) {
    const trimmed = line.trim();
    const verdict = judgeLine(trimmed);
    if (verdict === undefined) continue;
    all += trimmed.length;
    if (verdict === 'code') code += trimmed.length;
  }
  return all === 0 ? undefined : code / all;
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Statements whose words alone could be English, in the spelling that keywords have. */
const STATEMENT =
  /^(?:return\b|import\s+[\w.*{"']+|from\s+[\w.]+\s+import\b|else\b|elif\b|try\b|finally\b|except\b|pass$|break$|continue$|end$|(?:pub\s+)?(?:fn|mod|impl|struct|enum)\s|use\s[\w:{}, ]+;$|package\s+[\w.]+;?$|(?:const|var|let|def|function|func|async)\s+[\w$]+|(?:if|for|while|with|class|switch|case|do|match|unless|until)\b.*[:{]$)/;
const SQL =
  /^(?:SELECT|FROM|WHERE|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|(?:LEFT |RIGHT |INNER |OUTER )*JOIN|GROUP BY|ORDER BY|HAVING|VALUES|LIMIT|UNION|SET|AND|OR|ON|WITH)\b/;
const SQL_QUERY = /^select\s.+\sfrom\s+[\w.]+(?:\s*;|\s+where\s|\s+group by\s|\s+order by\s|\s*$)/i;
const SETTING = /^["']?[\w.-]+["']?\s*[=:]\s*\S*(?:\s\S+){0,2}$/;
const SECTION = /^(?:\[[\w.\s-]+\]|<\/?[\w-]+[^>]*>|["']?[\w.-]+["']?:)$/;
const COMMENT = /^(?:\/\/|\/\*|\*\s|\*\/|#!|#include\b|@[\w.]+(?:\(|$)|--\s)/;
const CODE_ENDING = /[{};]$|^[)\]}>]+[;,]?$|=>$|\\$/;
const SCRIPT_WITHOUT_SPACES = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]{6}/u;
/** Below this share of natural gaps a line is code. */
const NATURAL_GAPS = 0.76;

function judgeLine(line: string): 'code' | 'prose' | undefined {
  if (line === '') return undefined;
  if (COMMENT.test(line) || STATEMENT.test(line) || isSql(line) || SQL_QUERY.test(line)) return 'code';
  if (CODE_ENDING.test(line) || SECTION.test(line)) return 'code';
  const words = [...line.matchAll(WORD)];
  if (words.length === 0) return undefined;
  if (SETTING.test(line)) return 'code';
  let natural = 0;
  for (let i = 1; i < words.length; i++) {
    const start = words[i - 1].index + words[i - 1][0].length;
    if (isNaturalGap(line.slice(start, words[i].index), words[i - 1][0], words[i][0])) natural++;
  }
  const gaps = words.length - 1;
  if (gaps === 0 && SCRIPT_WITHOUT_SPACES.test(line)) return 'prose';
  if (gaps === 0) return /[(){}[\]=<>_;|&$]/.test(line) ? 'code' : undefined;
  if (natural / gaps < NATURAL_GAPS) return 'code';
  return 'prose';
}

/** A clause of SQL has a sign that no capitalised heading has, or is short. */
function isSql(line: string): boolean {
  return SQL.test(line) && (/[=<>*_(]|\w\.\w/.test(line) || line.split(/\s+/).length <= 4);
}

const NATURAL = /^(?:[\s\u00a0]+|[-–—'’·/&]|[)\]"'”’»]*[,;:.!?…]*[)\]"'”’»]*\s+[-–—•*+]?\s*["'“‘«([]*|\s*[–—]\s*)$/;
/** Full-width punctuation needs no space. */
const EAST_ASIAN = /^[\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\u2018-\u201d\s]+$/;
const NUMBER = /^\p{N}+$/u;

/** Space; or punctuation that closes, a space, punctuation that opens; or a hyphen. Dots and commas inside numbers too. */
function isNaturalGap(gap: string, before: string, after: string): boolean {
  if (gap === ' ' || NATURAL.test(gap) || EAST_ASIAN.test(gap)) return true;
  return /^[.,:/%]\s?$/.test(gap) && NUMBER.test(before) && NUMBER.test(after);
}
