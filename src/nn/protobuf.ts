/** The few wire types of protocol buffers that an ONNX file needs, written back to back without copying large payloads. */
const TEXT = new TextEncoder();

export class ProtobufWriter {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** A field of type int32, int64, enum or bool. */
  integer(field: number, value: number): this {
    return this.#tag(field, 0).#varint(value);
  }

  float(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    return this.#tag(field, 5).#push(bytes);
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#tag(field, 2).#varint(value.length).#push(value);
  }

  text(field: number, value: string): this {
    return this.bytes(field, TEXT.encode(value));
  }

  message(field: number, value: ProtobufWriter): this {
    this.#tag(field, 2).#varint(value.#length);
    for (const chunk of value.#chunks) this.#push(chunk);
    return this;
  }

  finish(): Uint8Array {
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }

  #tag(field: number, wireType: number): this {
    return this.#varint(field * 8 + wireType);
  }

  /** Negative numbers take ten bytes, as the format has it: two's complement of 64 bits. */
  #varint(value: number): this {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    do {
      const low = Number(rest & 127n);
      rest >>= 7n;
      bytes.push(rest === 0n ? low : low | 128);
    } while (rest !== 0n);
    return this.#push(Uint8Array.from(bytes));
  }

  #push(chunk: Uint8Array): this {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return this;
  }
}
