/**
 * A small assembler for WebAssembly, enough for loops over numbers with SIMD. A function is written as nested lists of
 * instructions, each a list of bytes; `assemble` makes a module of them that works on one imported memory.
 *
 *   const module = assemble({
 *     scale: fn(['i32', 'i32', 'f64'], ([at, end, by], local) => {
 *       const factor = local('v128');
 *       return [
 *         factor.set(splatF64(by.get)),
 *         loop(storeV128(at.get, mulF64x2(loadV128(at.get), factor.get)), at.add(16), againIf(lessThan(at.get, end.get))),
 *       ];
 *     }),
 *   });
 *
 * Where an engine has no WebAssembly or no SIMD, `assemble` answers undefined and the caller takes its plain loop.
 */

/** The few parts of the global that are used here; the type library of this project has no web APIs. */
interface WasmModule {
  readonly brand: 'module';
}
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean;
  Module: new (bytes: Uint8Array) => WasmModule;
  Memory: new (size: { initial: number }) => WasmMemory;
  Instance: new (module: WasmModule, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

/** Bytes of machine code of the stack machine. */
export type Code = readonly number[];
export type ValueType = 'i32' | 'i64' | 'f64' | 'v128';

const TYPES: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, f64: 0x7c, v128: 0x7b };

/** A parameter or a local variable. */
export interface Local {
  readonly get: Code;
  set(value: Code): Code;
  /** For i32: adds a constant. */
  add(constant: number): Code;
}

export interface WasmFunction {
  readonly parameters: readonly ValueType[];
  readonly body: (parameters: readonly Local[], local: (type: ValueType) => Local) => readonly Code[];
}

export function fn(parameters: readonly ValueType[], body: WasmFunction['body']): WasmFunction {
  return { parameters, body };
}

// Control. `loop` runs its body once and again each time `againIf` finds its condition true.
export const loop = (...body: Code[]): Code => [0x03, 0x40, ...body.flat(), 0x0b];
export const againIf = (condition: Code): Code => [...condition, 0x0d, 0x00];
/** Runs the body when the condition is true. */
export const when = (condition: Code, ...body: Code[]): Code => [...condition, 0x04, 0x40, ...body.flat(), 0x0b];

// Integers: addresses and counters.
export const i32 = (value: number): Code => [0x41, ...signedLeb(value)];
const two =
  (...opcode: number[]) =>
  (a: Code, b: Code): Code => [...a, ...b, ...opcode];
const one =
  (...opcode: number[]) =>
  (a: Code): Code => [...a, ...opcode];
export const addI32 = two(0x6a);
export const shlI32 = two(0x74);
/** Unsigned, as addresses are. */
export const ltU32 = two(0x49);
export const gtI32 = two(0x4a);

// Scalars.
export const addI64 = two(0x7c);
export const addF64 = two(0xa0);
export const f64FromI64 = one(0xb9);
export const maxF64 = two(0xa5);
export const f64 = (value: number): Code => [0x44, ...new Uint8Array(Float64Array.of(value).buffer)];
export const storeF64 = (address: Code, value: Code, offset = 0): Code => [
  ...address,
  ...value,
  0x39,
  3,
  ...leb(offset),
];

// 128-bit vectors.
const simd = (opcode: number): number[] => [0xfd, ...leb(opcode)];
export const loadV128 = (address: Code, offset = 0): Code => [...address, ...simd(0x00), 4, ...leb(offset)];
export const storeV128 = (address: Code, value: Code, offset = 0): Code => [
  ...address,
  ...value,
  ...simd(0x0b),
  4,
  ...leb(offset),
];
export const load64Zero = (address: Code, offset = 0): Code => [...address, ...simd(0x5d), 3, ...leb(offset)];
/** One f32 of memory in all four lanes. */
export const loadSplat32 = (address: Code, offset = 0): Code => [...address, ...simd(0x09), 2, ...leb(offset)];
/** One f64 of memory in both lanes. */
export const loadSplat64 = (address: Code, offset = 0): Code => [...address, ...simd(0x0a), 3, ...leb(offset)];
export const zeroV128: Code = [...simd(0x0c), ...new Array<number>(16).fill(0)];
export const splatF64 = one(...simd(0x14));
export const laneI64 = (vector: Code, lane: number): Code => [...vector, ...simd(0x1d), lane];
export const laneF64 = (vector: Code, lane: number): Code => [...vector, ...simd(0x21), lane];
export const addF64x2 = two(...simd(0xf0));
export const subF64x2 = two(...simd(0xf1));
export const mulF64x2 = two(...simd(0xf2));
export const absF64x2 = one(...simd(0xec));
/** a < b ? b : a, by lane. */
export const pmaxF64x2 = two(...simd(0xf7));
/** The two low f32 as f64. */
export const promoteF32x4 = one(...simd(0x5f));
export const addI32x4 = two(...simd(0xae));
/** Both halves moved up by so many bits. */
export const shlI64x2 = (a: Code, bits: number): Code => [...a, ...i32(bits), ...simd(0xcb)];
export const addI64x2 = two(...simd(0xce));
/** Eight products of 16-bit integers, added in pairs. */
export const dotI16x8 = two(...simd(0xba));
/** The two low, or high, i32 as i64. */
export const extendLowI32x4 = one(...simd(0xc7));
export const extendHighI32x4 = one(...simd(0xc8));

/** Sixteen bytes out of the 32 of two vectors. */
export const shuffle = (bytes: readonly number[], a: Code, b: Code): Code => [...a, ...b, ...simd(0x0d), ...bytes];

const PAGE = 65536;
/** What one memory can hold. */
export const MOST_BYTES = PAGE * PAGE;

export interface Compiled {
  /** The functions on a memory. */
  link(memory: WasmMemory): Readonly<Record<string, (...values: number[]) => void>>;
}

/** Compiles functions without results, by name; undefined where the engine refuses them. */
export function assemble(functions: Readonly<Record<string, WasmFunction>>): Compiled | undefined {
  const bytes = Uint8Array.from(moduleBytes(functions));
  if (typeof WebAssembly !== 'object' || !WebAssembly.validate(bytes)) return undefined;
  const module = new WebAssembly.Module(bytes);
  return {
    link: (memory) =>
      new WebAssembly.Instance(module, { host: { memory } }).exports as Record<string, (...values: number[]) => void>,
  };
}

/** Room for so many bytes, zeroed; undefined when there is none: at most 4 GiB, and what the engine can reserve. */
export function createMemory(bytes: number): WasmMemory | undefined {
  const initial = Math.ceil(bytes / PAGE);
  if (initial > PAGE) return undefined;
  try {
    return new WebAssembly.Memory({ initial });
  } catch {
    return undefined;
  }
}

/** Makes the memory at least so many bytes long; its old buffer is then gone. False when that cannot be. */
export function growMemory(memory: WasmMemory, bytes: number): boolean {
  const missing = Math.ceil((bytes - memory.buffer.byteLength) / PAGE);
  if (missing <= 0) return true;
  try {
    memory.grow(missing);
    return true;
  } catch {
    return false;
  }
}

function moduleBytes(functions: Readonly<Record<string, WasmFunction>>): number[] {
  const entries = Object.entries(functions);
  const types = entries.map(([, { parameters }]) => [0x60, ...list(parameters.map((type) => [TYPES[type]])), 0]);
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, list(types)),
    ...section(2, list([[...name('host'), ...name('memory'), 0x02, 0x00, 1]])),
    ...section(3, list(entries.map((_, i) => leb(i)))),
    ...section(7, list(entries.map(([key], i) => [...name(key), 0x00, ...leb(i)]))),
    ...section(10, list(entries.map(([, code]) => sized(functionBytes(code))))),
  ];
}

function functionBytes({ parameters, body }: WasmFunction): number[] {
  const locals: ValueType[] = [];
  const at = (index: number): Local => {
    const get = [0x20, ...leb(index)];
    const set = (value: Code): Code => [...value, 0x21, ...leb(index)];
    return { get, set, add: (constant) => set(addI32(get, i32(constant))) };
  };
  const code = body(
    parameters.map((_, index) => at(index)),
    (type) => at(parameters.length + locals.push(type) - 1),
  );
  return [...list(locals.map((type) => [1, TYPES[type]])), ...code.flat(), 0x0b];
}

const section = (id: number, content: readonly number[]): number[] => [id, ...sized(content)];
const list = (items: readonly (readonly number[])[]): number[] => [...leb(items.length), ...items.flat()];
const sized = (bytes: readonly number[]): number[] => [...leb(bytes.length), ...bytes];
const name = (text: string): number[] => sized(Array.from(text, (char) => char.charCodeAt(0)));

/** Unsigned LEB128. */
function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; ) {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
    if (rest === 0) return bytes;
  }
}

function signedLeb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; ) {
    const low = rest & 0x7f;
    rest >>= 7;
    const done = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
    bytes.push(done ? low : low | 0x80);
    if (done) return bytes;
  }
}
