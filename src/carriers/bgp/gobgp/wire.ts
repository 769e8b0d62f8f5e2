// Protocol buffers read field by field, for what comes by the hundred thousand: through the schemas a path takes
// several times as long, and most of that time goes into objects that are not kept. Whoever reads knows the numbers of
// the fields (proto/gobgp/); what is not asked for is passed over.

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/**
 * The fields of a message, one after the other, in the order in which they come.
 * @throws RangeError from every method when the bytes are no such message
 */
export class Fields {
  /** Of the current field. */
  number = 0;
  private readonly buffer: Buffer;
  private at: number;
  private readonly end: number;
  private type = VARINT;
  private value = 0;
  private from = 0;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
    this.end = end;
  }

  /** Goes on to the next field. @returns whether there is one */
  next(): boolean {
    if (this.at >= this.end) return false;
    const tag = this.varint();
    this.number = tag >>> 3;
    this.type = tag & 7;
    if (this.number === 0) throw new RangeError('a field with the number 0');
    if (this.type === VARINT) this.value = this.varint();
    else this.pass(this.length());
    return true;
  }

  /** The low 32 bits of a number, or a truth value as 0 or 1. */
  uint(): number {
    this.expect(VARINT);
    return this.value;
  }

  /** A view. */
  bytes(): Uint8Array {
    this.expect(BYTES);
    return this.buffer.subarray(this.from, this.at);
  }

  text(): string {
    this.expect(BYTES);
    return this.buffer.toString('utf8', this.from, this.at);
  }

  /** The fields of the message that the field is. */
  message(): Fields {
    this.expect(BYTES);
    return new Fields(this.buffer, this.from, this.at);
  }

  /** Adds numbers of a repeated field, which may come one by one or packed. */
  uints(into: number[]): void {
    if (this.type === VARINT) return void into.push(this.value);
    this.expect(BYTES);
    const packed = new Fields(this.buffer, this.from, this.at);
    while (packed.at < packed.end) into.push(packed.varint());
  }

  private expect(type: number): void {
    if (this.type !== type) throw new RangeError(`field ${this.number} has the wire type ${this.type}, not ${type}`);
  }

  private length(): number {
    if (this.type === BYTES) return this.varint();
    if (this.type === FIXED64) return 8;
    if (this.type === FIXED32) return 4;
    throw new RangeError(`field ${this.number} has the wire type ${this.type}`);
  }

  private pass(length: number): void {
    this.from = this.at;
    if (length > this.end - this.at)
      throw new RangeError(`field ${this.number} has ${length} bytes of which ${this.end - this.at} are there`);
    this.at += length;
  }

  /** Ten bytes at most; what is above 32 bits is passed over. */
  private varint(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= this.end) throw new RangeError('a number is cut');
      const byte = this.buffer[this.at++]!;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new RangeError('a number of more than 64 bits');
  }
}
