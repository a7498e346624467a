/** What a function is called, read off the tree. */
import { type AstNode, child } from './ast.ts';

/** `Box2` + `union`; `Box2` + `[Symbol.iterator]`. */
export function joinNames(owner: string, name: string): string {
  if (owner === '' || name === '') return owner + name;
  return name.startsWith('[') ? owner + name : `${owner}.${name}`;
}

/** An identifier, string or private name as text; '' for anything else. */
export function plainName(node: AstNode | undefined): string {
  if (node?.type === 'Identifier') return node.name as string;
  if (node?.type === 'StringLiteral') return node.value as string;
  if (node?.type === 'PrivateName') return `#${plainName(child(node, 'id'))}`;
  return '';
}

/**
 * The name of a class member or property: `foo`, `#foo`, `[Symbol.iterator]`; '' when the key is no name, as in
 * `{'adds two numbers': function () {}}`, which is a label in a table.
 */
export function keyName(member: AstNode): string {
  const key = child(member, 'key')!;
  const isComputed = member.computed === true && key.type !== 'StringLiteral';
  const name = isComputed ? `[${assignedName(key, '') ?? 'computed'}]` : plainName(key) || String(key.value ?? '');
  return /[\s|,]/.test(name) ? '' : name;
}

/**
 * The name that an assignment to `left` gives: `exports.a` is a, `Foo.prototype.bar` is Foo.bar, `this.b` is b. '' for
 * `module.exports` itself, `stem` for `exports.default`, undefined when it gives none (`a[i] = ...`).
 */
export function assignedName(left: AstNode, stem: string): string | undefined {
  const parts: string[] = [];
  let node = unwrap(left);
  while (node.type === 'MemberExpression') {
    const property = child(node, 'property')!;
    if (node.computed === true && property.type !== 'StringLiteral') {
      const inner = property.type === 'MemberExpression' ? assignedName(property, stem) : undefined;
      if (inner === undefined) return undefined;
      parts.unshift(`[${inner}]`);
    } else parts.unshift(plainName(property));
    node = unwrap(child(node, 'object')!);
  }
  if (node.type === 'Identifier') parts.unshift(node.name as string);
  else if (node.type !== 'ThisExpression') return undefined;

  if (parts[0] === 'module' && parts[1] === 'exports') parts.splice(0, 2);
  else if (parts[0] === 'exports') parts.shift();
  const name = parts.filter((part) => part !== 'prototype').reduce(joinNames, '');
  return name === 'default' ? stem : name;
}

const TRANSPARENT = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TypeCastExpression',
]);

/** The expression without parentheses and type assertions. */
export function unwrap(node: AstNode): AstNode {
  while (TRANSPARENT.has(node.type)) node = child(node, 'expression')!;
  return node;
}
