/** As much of Babel's tree as this folder looks at. */
export interface AstNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export interface AstComment {
  readonly type: 'CommentBlock' | 'CommentLine';
  /** Without its markers. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

export interface AstToken {
  readonly type: unknown;
  readonly start: number;
  readonly end: number;
  readonly loc: { readonly start: { readonly line: number } };
}

export interface AstFile {
  readonly program: AstNode;
  readonly comments: readonly AstComment[];
  readonly tokens: readonly AstToken[];
}

export function isNode(value: unknown): value is AstNode {
  return typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string';
}

/** A child node, or undefined. */
export function child(node: AstNode, key: string): AstNode | undefined {
  const value = node[key];
  return isNode(value) ? value : undefined;
}

export function children(node: AstNode, key: string): AstNode[] {
  const value = node[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** All child nodes in source order of their keys. */
export function allChildren(node: AstNode): AstNode[] {
  const found: AstNode[] = [];
  for (const key in node) {
    if (SKIPPED.has(key)) continue;
    const value = node[key];
    if (isNode(value)) found.push(value);
    else if (Array.isArray(value)) for (const item of value) if (isNode(item)) found.push(item);
  }
  return found;
}

const SKIPPED = new Set(['loc', 'extra', 'tokens', 'comments', 'errors', 'range']);
