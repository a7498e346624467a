import { type AstNode, allChildren, child, children } from './ast.ts';
import { assignedName, joinNames, keyName, plainName, unwrap } from './names.ts';

/** A place in the tree where a function has a name. */
export interface Candidate {
  readonly name: string;
  /** The statement, member or property as a whole: what the document shows. */
  readonly start: number;
  readonly end: number;
  /** Where its comment may end, outermost first. */
  readonly anchors: readonly number[];
  /** The function, or the call that wraps it; undefined for a declaration without a body. */
  readonly value: AstNode | undefined;
  /** A wrapped function inside another one needs a doc comment: `// sort` above `const a = sorted(x => ...)` describes a step. */
  readonly needs: 'comment' | 'doc comment';
}

interface Visit {
  readonly node: AstNode;
  /** Name of the class or object that holds this node, '' when none does. */
  readonly owner: string;
  /** Inside how many functions, module wrappers not counted. */
  readonly depth: number;
}

/** All candidates below `program`, in no particular order. `stem` names anonymous default exports. */
export function candidates(program: AstNode, stem: string): Candidate[] {
  const collector = new Collector(stem);
  collector.enter(program, '', 0);
  collector.run();
  return collector.found;
}

class Collector {
  readonly found: Candidate[] = [];
  /** Explicit, because generated files nest deeper than the call stack goes. */
  private readonly stack: Visit[] = [];
  private readonly stem: string;

  constructor(stem: string) {
    this.stem = stem;
  }

  run(): void {
    for (let visit = this.stack.pop(); visit; visit = this.stack.pop()) this.visit(visit);
  }

  enter(node: AstNode | undefined, owner: string, depth: number): void {
    if (node) this.stack.push({ node, owner, depth });
  }

  private enterChildren(node: AstNode, depth: number): void {
    for (const next of allChildren(node)) this.enter(next, '', depth);
  }

  private visit(visit: Visit): void {
    const { node, owner, depth } = visit;
    switch (node.type) {
      case 'ExportNamedDeclaration':
      case 'ExportDefaultDeclaration':
        this.visitExport(visit);
        break;
      case 'FunctionDeclaration':
      case 'TSDeclareFunction':
      case 'DeclareFunction':
      case 'ClassDeclaration':
      case 'VariableDeclaration':
        this.declare(node, node, '', visit);
        break;
      case 'TSModuleDeclaration':
        this.enter(child(node, 'body'), joinNames(owner, plainName(child(node, 'id'))), depth);
        break;
      case 'TSModuleBlock':
      case 'ClassBody':
        for (const member of children(node, 'body')) this.enter(member, owner, depth);
        break;
      case 'ObjectExpression':
        for (const property of children(node, 'properties')) this.enter(property, owner, depth);
        break;
      case 'ClassExpression':
        this.enter(child(node, 'body'), owner || plainName(child(node, 'id')), depth);
        break;
      case 'ClassMethod':
      case 'ClassPrivateMethod':
      case 'ObjectMethod':
      case 'TSDeclareMethod':
        this.visitMethod(visit);
        break;
      case 'ClassProperty':
      case 'ClassPrivateProperty':
      case 'ObjectProperty':
        this.visitProperty(visit);
        break;
      case 'ExpressionStatement': {
        const expression = child(node, 'expression')!;
        if (expression.type === 'AssignmentExpression') this.assign(expression, node, depth);
        else this.enter(expression, '', depth);
        break;
      }
      case 'AssignmentExpression':
        this.assign(node, node, depth);
        break;
      case 'CallExpression':
      case 'NewExpression':
      case 'OptionalCallExpression':
        this.visitCall(visit);
        break;
      default:
        this.enterChildren(node, isFunction(node) ? depth + 1 : depth);
    }
  }

  /** Reports `value` under `name` if it is a function, and looks inside; objects and classes lend their members the name. */
  private offer(name: string, whole: AstNode, value: AstNode, anchors: readonly number[], depth: number): void {
    const inner = unwrap(value);
    if (inner.type === 'ObjectExpression' || inner.type === 'ClassExpression') {
      this.enter(inner, name, depth);
      return;
    }
    if (isFunction(inner)) this.report(name, whole, anchors, inner);
    else if (wrapsFunction(inner)) this.report(name, whole, anchors, inner, depth === 0 ? 'comment' : 'doc comment');
    this.enter(value, '', depth);
  }

  private report(
    name: string,
    { start, end }: AstNode,
    anchors: readonly number[],
    value: AstNode | undefined,
    needs: Candidate['needs'] = 'comment',
  ): void {
    this.found.push({ name, start, end, anchors, value, needs });
  }

  private visitExport(visit: Visit): void {
    const { node, depth } = visit;
    const declaration = child(node, 'declaration');
    if (!declaration) return;
    const isDefault = node.type === 'ExportDefaultDeclaration';
    if (!isDefault || isDeclaration(declaration)) {
      this.declare(declaration, node, isDefault ? this.stem : '', visit);
      return;
    }
    const inner = unwrap(declaration);
    const name = inner.type === 'ObjectExpression' ? '' : functionName(inner) || this.stem;
    this.offer(name, node, declaration, [node.start, declaration.start], depth);
  }

  /** A declaration inside `whole`: itself, or its export statement. */
  private declare(declaration: AstNode, whole: AstNode, fallback: string, { owner, depth }: Visit): void {
    const name = joinNames(owner, plainName(child(declaration, 'id')) || fallback);
    const anchors = [whole.start, declaration.start];
    switch (declaration.type) {
      case 'VariableDeclaration':
        for (const [i, declarator] of children(declaration, 'declarations').entries()) {
          this.declareVariable(declaration, declarator, whole, i === 0 ? anchors : [], {
            node: declaration,
            owner,
            depth,
          });
        }
        break;
      case 'ClassDeclaration':
        this.enter(child(declaration, 'body'), name, depth);
        break;
      case 'FunctionDeclaration':
        this.report(name, whole, anchors, declaration);
        this.enterChildren(declaration, depth + 1);
        break;
      case 'TSDeclareFunction':
      case 'DeclareFunction':
        this.report(name, whole, anchors, undefined);
        break;
      default:
        this.enter(declaration, owner, depth);
    }
  }

  private declareVariable(
    declaration: AstNode,
    declarator: AstNode,
    whole: AstNode,
    outer: readonly number[],
    { owner, depth }: Visit,
  ): void {
    const id = child(declarator, 'id')!;
    const init = child(declarator, 'init');
    const value = init && assignedValue(init);
    const name = joinNames(owner, plainName(id));
    if (init && id.type === 'Identifier') {
      const isAlone = children(declaration, 'declarations').length === 1;
      this.offer(
        name,
        isAlone ? whole : declarator,
        value!,
        [...outer, declarator.start, init.start, value!.start],
        depth,
      );
    } else if (init) this.enter(init, '', depth);
    // `declare const f: (x: A) => B`: no code, but maybe the comment of the code in the .js file beside it.
    else if (declaration.declare === true) this.report(name, whole, outer, undefined);
  }

  private visitMethod({ node, owner, depth }: Visit): void {
    const name = keyName(node);
    const anchors = [node.start, child(node, 'key')!.start];
    const hasBody = node.type !== 'TSDeclareMethod';
    if (name !== '') this.report(joinNames(owner, name), node, anchors, hasBody ? node : undefined);
    if (hasBody) this.enterChildren(node, depth + 1);
  }

  private visitProperty({ node, owner, depth }: Visit): void {
    const value = child(node, 'value');
    if (!value) return;
    const name = keyName(node);
    const anchors = [node.start, child(node, 'key')!.start, value.start];
    if (name === '') this.enter(value, '', depth);
    else this.offer(joinNames(owner, name), node, value, anchors, depth);
  }

  private assign(assignment: AstNode, whole: AstNode, depth: number): void {
    const right = child(assignment, 'right')!;
    const name = assignedName(child(assignment, 'left')!, this.stem);
    const value = assignedValue(right);
    if (name === undefined) {
      this.enter(right, '', depth);
      return;
    }
    const inner = unwrap(value);
    const isHolder = inner.type === 'ObjectExpression' || inner.type === 'ClassExpression';
    const own = inner.type === 'ClassExpression' ? plainName(child(inner, 'id')) : functionName(inner);
    const fallback = isHolder ? own : own || this.stem;
    this.offer(name || fallback, whole, value, [whole.start, right.start, value.start], depth);
  }

  private visitCall({ node, depth }: Visit): void {
    const callee = child(node, 'callee')!;
    // (function () { ... })(), also with .call(this): at the top it wraps a module and is nothing that anyone looks for.
    const target = unwrap(callee.type === 'MemberExpression' ? child(callee, 'object')! : callee);
    const isWrapper = depth === 0 && isFunction(target);
    if (isWrapper) this.enterChildren(target, depth);
    else this.enter(callee, '', depth);

    const args = children(node, 'arguments');
    // extend(Foo.prototype, { bar() {} }) gives Foo its members.
    const holder =
      args.length > 1 && args[0].type === 'MemberExpression' ? assignedName(args[0], this.stem) : undefined;
    for (const arg of args) {
      const inner = unwrap(arg);
      const isFactory = depth === 0 && isFunction(inner) && (isWrapper || plainName(callee) === 'define');
      if (isFactory) this.enterChildren(inner, depth);
      else this.enter(arg, inner.type === 'ObjectExpression' ? (holder ?? '') : '', depth);
    }
  }
}

/** Of `a = b = function` the outermost name counts. */
function assignedValue(node: AstNode): AstNode {
  while (node.type === 'AssignmentExpression') node = child(node, 'right')!;
  return node;
}

function isFunction(node: AstNode): boolean {
  return /^(?:Function(?:Expression|Declaration)|ArrowFunctionExpression)$/.test(node.type);
}

function isDeclaration(node: AstNode): boolean {
  return /Declaration$|^(?:TSDeclareFunction|DeclareFunction)$/.test(node.type);
}

function functionName(node: AstNode): string {
  return isFunction(node) ? plainName(child(node, 'id')) : '';
}

/** Calls that use a function at once rather than make one. */
const USES_AT_ONCE = new Set(
  `map filter forEach reduce reduceRight some every find findIndex findLast flatMap sort toSorted replace replaceAll from then
  catch finally all race on once addEventListener setTimeout setInterval setImmediate nextTick requestAnimationFrame require
  describe it test before after beforeEach afterEach each run exec use get post put delete Promise`.split(/\s+/),
);

/**
 * Whether a call makes a function of another (`memo(() => ...)`, `curry(dispatch([], function (a) { ... }))`), or an
 * expression chooses one (`native || function (a) { ... }`). Called functions (`(() => 1)()`) make a value.
 */
function wrapsFunction(node: AstNode): boolean {
  const isOrWraps = (part: AstNode | undefined): boolean =>
    part !== undefined && (isFunction(unwrap(part)) || wrapsFunction(unwrap(part)));
  if (node.type === 'LogicalExpression') return isOrWraps(child(node, 'left')) || isOrWraps(child(node, 'right'));
  if (node.type === 'ConditionalExpression') {
    return isOrWraps(child(node, 'consequent')) || isOrWraps(child(node, 'alternate'));
  }
  if (node.type !== 'CallExpression') return false;
  const callee = unwrap(child(node, 'callee')!);
  const name = plainName(callee.type === 'MemberExpression' ? child(callee, 'property') : callee);
  return name !== '' && !USES_AT_ONCE.has(name) && children(node, 'arguments').some(isOrWraps);
}
