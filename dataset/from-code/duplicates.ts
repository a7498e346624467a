import { normaliseQuery } from '../../src/data/splits.ts';

export interface CopyCheck {
  /** 'tokens' or 'comment' when an earlier function was the same one; undefined for a new one, which is then remembered. */
  check(candidate: CopyCandidate): 'tokens' | 'comment' | undefined;
}

export interface CopyCandidate {
  readonly path: string;
  readonly name: string;
  readonly key: string;
  /** The whole comment, not only its first sentence. */
  readonly comment: string;
}

interface Place {
  readonly stem: string;
  readonly isBuilt: boolean;
  readonly key: string;
}

/**
 * Packages ship one function several times. Two signs of a copy: the same name and the same tokens; or the same name and
 * the same whole comment, if the files have the same stem, one of them lies in a folder for builds (which may be written
 * in an older language), or the tokens are nearly the same. Functions that only share their first sentence are no copies.
 */
export function createCopyCheck(): CopyCheck {
  const byTokens = new Set<string>();
  const byComment = new Map<string, Place[]>();
  return {
    check({ path, name, key, comment }) {
      const plain = plainName(name);
      const tokens = `${plain}\n${key}`;
      if (byTokens.has(tokens)) return 'tokens';
      const place: Place = { stem: stem(path), isBuilt: buildRank(path) > 0, key };
      const described = `${plain}\n${normaliseQuery(comment)}`;
      const others = byComment.get(described) ?? [];
      if (others.some((other) => isBuildOf(other, place) || similarity(other.key, key) >= NEARLY_EQUAL))
        return 'comment';
      byTokens.add(tokens);
      byComment.set(described, [...others, place]);
      return undefined;
    },
  };
}

const NEARLY_EQUAL = 0.8;

function isBuildOf(a: Place, b: Place): boolean {
  return a.stem === b.stem || a.isBuilt || b.isBuilt;
}

/** Dice coefficient of the two bags of tokens, in [0, 1]. */
function similarity(a: string, b: string): number {
  const left = a.split(' ');
  const right = b.split(' ');
  const counts = new Map<string, number>();
  for (const token of left) counts.set(token, (counts.get(token) ?? 0) + 1);
  let shared = 0;
  for (const token of right) {
    const count = counts.get(token) ?? 0;
    if (count > 0) shared++;
    counts.set(token, count - 1);
  }
  return (2 * shared) / (left.length + right.length);
}

/** Bundlers write `map$1` for the second `map`. */
function plainName(name: string): string {
  return name.replace(/\$\d+(?=\.|$)/g, '');
}

/** 0 for sources; more, the surer the path lies among build products. Of copies, the lowest rank is kept. */
export function buildRank(path: string): number {
  const folders = path.toLowerCase().split('/').slice(0, -1);
  let rank = folders.reduce((sum, folder) => sum + (BUILT.test(folder) ? 2 : folder === 'lib' ? 1 : 0), 0);
  if (
    /\.(?:umd|amd|cjs|esm|iife|global|bundle|bundled|browser|prod|production|dev|development|min)\.[^./]+$|\.cjs$/i.test(
      path,
    )
  )
    rank++;
  return rank;
}

const BUILT =
  /^(?:dist|build|built|out|output|compiled|bundles?|bundled|min|cjs|commonjs|umd|amd|iife|_?f?es(?:m|\d+)*|browser|release)$/;

function stem(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\..*$/, '');
}
