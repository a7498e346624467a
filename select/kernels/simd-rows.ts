/**
 * Float32 rows times a float64 vector in WebAssembly SIMD: a hundred bytes of code, written out below. It keeps the order of
 * additions of `innerSingle` (lanes s0 s1 and s2 s3, multiply then add), so that both answer the same bits.
 */

/** The few parts of the global that are used here; the type library of this project has no web APIs. */
interface WasmModule {
  readonly brand: 'module';
}
interface WasmMemory {
  readonly buffer: ArrayBuffer;
}
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean;
  Module: new (bytes: Uint8Array) => WasmModule;
  Memory: new (size: { initial: number }) => WasmMemory;
  Instance: new (module: WasmModule, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

const PAGE = 65536;
/** 32-bit addresses; beyond this the plain loop serves. */
const MOST_BYTES = 2 ** 31;

export interface SimdRows {
  /** Takes over all rows, back to back. */
  setRows(data: Float32Array | Float64Array): void;
  setRow(row: number, data: Float32Array | Float64Array, start: number): void;
  /** out[r] = row r . vector, for every row r >= from. */
  times(vector: Float64Array, out: Float64Array, from?: number): void;
}

/** Room for float32 rows beside the code that multiplies them; undefined where there is no SIMD, or no room. */
export function createSimdRows(rows: number, columns: number): SimdRows | undefined {
  // Four rows and four columns at a time: what is missing is zeros, which change no sum.
  const width = Math.ceil(columns / 4) * 4;
  const count = Math.ceil(rows / 4) * 4;
  const outAt = width * 8;
  const rowsAt = outAt + count * 8;
  const bytes = rowsAt + count * width * 4;
  const compiled = compile();
  if (compiled === undefined || bytes > MOST_BYTES || width === 0 || count === 0) return undefined;
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) });
  const { exports } = new WebAssembly.Instance(compiled, { host: { memory } });
  const multiply = exports.multiply as (
    rows: number,
    count: number,
    width: number,
    vector: number,
    out: number,
  ) => void;
  const vectorView = new Float64Array(memory.buffer, 0, width);
  const outView = new Float64Array(memory.buffer, outAt, rows);
  const rowView = new Float32Array(memory.buffer, rowsAt, count * width);

  const setRow = (row: number, data: Float32Array | Float64Array, start: number): void =>
    rowView.set(data.subarray(start, start + columns), row * width);
  return {
    setRow,
    setRows(data) {
      if (width === columns) rowView.set(data);
      else for (let r = 0; r < rows; r++) setRow(r, data, r * columns);
    },
    times(vector, out, from = 0) {
      // Whole groups of four; the few rows before `from` in its group are computed and not handed out.
      const first = from & ~3;
      vectorView.set(vector);
      if (first < count) multiply(rowsAt + first * width * 4, count - first, width, 0, outAt + first * 8);
      out.set(from === 0 ? outView : outView.subarray(from), from);
    },
  };
}

let code: WasmModule | undefined;
let tried = false;

function compile(): WasmModule | undefined {
  if (tried) return code;
  tried = true;
  const bytes = Uint8Array.from(moduleBytes());
  // An engine without SIMD refuses the module; that is no error.
  if (typeof WebAssembly === 'object' && WebAssembly.validate(bytes)) code = new WebAssembly.Module(bytes);
  return code;
}

// The module, in the binary format. `multiply(rows, count, width, vector, out)`, addresses and counts as i32:
//   do                                            four rows a turn
//     a[0..3] = b[0..3] = (0, 0);  i = 0;  q = vector
//     do                                          four columns a turn
//       a[r] += (x0, x1) * (v0, v1);  b[r] += (x2, x3) * (v2, v3)     for the four rows, x promoted to f64
//     while i < width
//     out[r] = (a[r].0 + a[r].1) + (b[r].0 + b[r].1)
//   while count > 0

const I32 = 0x7f;
const V128 = 0x7b;
const [ROWS, COUNT, WIDTH, VECTOR, OUT] = [0, 1, 2, 3, 4];
const [OFFSET, END, Q] = [5, 6, 7];
/** Row pointers; the first is the parameter itself. */
const ROW = [ROWS, 8, 9, 10];
const [LOW, HIGH] = [11, 12];
const A = [13, 14, 15, 16];
const B = [17, 18, 19, 20];

const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const i32 = (value: number): number[] => [0x41, value];
const ADD_I32 = 0x6a;
const SUB_I32 = 0x6b;
const SHIFT_LEFT = 0x74;
const LESS_UNSIGNED = 0x49;
const GREATER_SIGNED = 0x4a;
const ADD_F64 = 0xa0;
const END_BLOCK = 0x0b;
const LOOP = [0x03, 0x40];
const AGAIN_IF = [0x0d, 0x00];
const simd = (...opcode: number[]): number[] => [0xfd, ...opcode];
const ADD_F64X2 = simd(0xf0, 0x01);
const MULTIPLY_F64X2 = simd(0xf2, 0x01);
const PROMOTE_LOW = simd(0x5f);
const ZERO_V128 = simd(0x0c, ...new Array<number>(16).fill(0));
const loadV128 = (offset: number): number[] => simd(0x00, 0x03, offset);
const load64Zero = (offset: number): number[] => simd(0x5d, 0x02, offset);
const lane = (local: number, index: number): number[] => [...get(local), ...simd(0x21, index)];
const storeF64 = (offset: number): number[] => [0x39, 0x03, offset];

function moduleBytes(): number[] {
  const addProduct = (sum: number, row: number, offset: number, vector: number): number[] => [
    ...get(sum),
    ...[...get(row), ...get(OFFSET), ADD_I32, ...load64Zero(offset), ...PROMOTE_LOW],
    ...[...get(vector), ...MULTIPLY_F64X2],
    ...[...ADD_F64X2, ...set(sum)],
  ];
  const four = [0, 1, 2, 3];
  const body = [
    ...[...get(WIDTH), ...i32(2), SHIFT_LEFT, ...set(END)],
    ...LOOP,
    ...[...A, ...B].flatMap((sum) => [...ZERO_V128, ...set(sum)]),
    ...[...i32(0), ...set(OFFSET), ...get(VECTOR), ...set(Q)],
    ...[1, 2, 3].flatMap((r) => [...get(ROW[r - 1]), ...get(END), ADD_I32, ...set(ROW[r])]),
    ...LOOP,
    ...[...get(Q), ...loadV128(0), ...set(LOW), ...get(Q), ...loadV128(16), ...set(HIGH)],
    ...four.flatMap((r) => [...addProduct(A[r], ROW[r], 0, LOW), ...addProduct(B[r], ROW[r], 8, HIGH)]),
    ...[...get(Q), ...i32(32), ADD_I32, ...set(Q), ...get(OFFSET), ...i32(16), ADD_I32, ...set(OFFSET)],
    ...[...get(OFFSET), ...get(END), LESS_UNSIGNED, ...AGAIN_IF, END_BLOCK],
    ...four.flatMap((r) => [
      ...get(OUT),
      ...[...lane(A[r], 0), ...lane(A[r], 1), ADD_F64],
      ...[...lane(B[r], 0), ...lane(B[r], 1), ADD_F64],
      ...[ADD_F64, ...storeF64(8 * r)],
    ]),
    ...[...get(OUT), ...i32(32), ADD_I32, ...set(OUT), ...get(ROW[3]), ...get(END), ADD_I32, ...set(ROWS)],
    ...[...get(COUNT), ...i32(4), SUB_I32, ...set(COUNT)],
    ...[...get(COUNT), ...i32(0), GREATER_SIGNED, ...AGAIN_IF, END_BLOCK],
    END_BLOCK,
  ];
  const locals = [2, ...[6, I32], ...[10, V128]];
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, 5, I32, I32, I32, I32, I32, 0]),
    ...section(2, [1, ...name('host'), ...name('memory'), 0x02, 0x00, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name('multiply'), 0x00, 0]),
    ...section(10, [1, ...sized([...locals, ...body])]),
  ];
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...sized(content)];
}

/** Length (LEB128), then the bytes. */
function sized(bytes: readonly number[]): number[] {
  const length: number[] = [];
  for (let rest = bytes.length; ; ) {
    const low = rest & 0x7f;
    rest >>>= 7;
    length.push(rest === 0 ? low : low | 0x80);
    if (rest === 0) return [...length, ...bytes];
  }
}

function name(text: string): number[] {
  return sized(Array.from(text, (char) => char.charCodeAt(0)));
}
