// Layouts of C types as the compiler has left them in an object's BTF, read by bpftool: bytes ↔ values, without
// anything that cnpd's own encoders know. Numbers of up to 32 bits are numbers, of 64 bits bigints; arrays of bytes are
// hexadecimal text; of a union the first reading counts. What is named `reserved` has no value and is zero.
import { execFileSync } from 'node:child_process';
import { LITTLE_ENDIAN, structure, viewOf } from '../../../src/kernel/dataplane/layout.ts';
import { fromHex, toHex } from '../../../src/packet/hex.ts';

interface Member {
  readonly name: string;
  readonly type_id: number;
  readonly bits_offset: number;
}
interface Variable {
  readonly type_id: number;
}
interface RawType {
  readonly id: number;
  readonly kind: string;
  readonly name: string;
  readonly size?: number;
  readonly type_id?: number;
  readonly nr_elems?: number;
  readonly members?: readonly Member[];
  readonly values?: readonly { readonly name: string; readonly val: string }[];
  readonly vars?: readonly Variable[];
}

export type Value = number | bigint | string | readonly Value[] | { readonly [field: string]: Value };
/** Bytes of one named field, in the whole: `ways[2].notified_at` is called `ways.notified_at`. */
interface Span {
  readonly field: string;
  readonly offset: number;
  readonly size: number;
}

const unsigned = (value: string): number => Number(BigInt.asUintN(32, BigInt(value)));

export abstract class Layout {
  abstract readonly size: number;
  abstract read(bytes: Uint8Array, at: number): Value;
  abstract write(bytes: Uint8Array, at: number, value: Value): void;
  abstract spans(field: string, at: number): Span[];

  decode(bytes: Uint8Array): Value {
    if (bytes.length !== this.size) throw new RangeError(`${bytes.length} bytes, not ${this.size}`);
    return this.read(bytes, 0);
  }

  encode(value: Value): Uint8Array {
    return structure(this.size, (_, bytes) => this.write(bytes, 0, value));
  }

  /** Of every field; reserved ones and what is between fields have none. */
  fields(): Span[] {
    return this.spans('', 0);
  }
}

class Integer extends Layout {
  readonly size: number;
  readonly #littleEndian: boolean;

  constructor(size: number, isNetworkOrder: boolean) {
    super();
    this.size = size;
    this.#littleEndian = LITTLE_ENDIAN && !isNetworkOrder;
  }

  override read(bytes: Uint8Array, at: number): Value {
    const view = viewOf(bytes);
    if (this.size === 8) return view.getBigUint64(at, this.#littleEndian);
    if (this.size === 4) return view.getUint32(at, this.#littleEndian);
    return this.size === 2 ? view.getUint16(at, this.#littleEndian) : view.getUint8(at);
  }

  override write(bytes: Uint8Array, at: number, value: Value): void {
    const view = viewOf(bytes);
    if (this.size === 8 ? typeof value !== 'bigint' : typeof value !== 'number')
      throw new TypeError(`${JSON.stringify(value)} for a number of ${this.size} bytes`);
    if (this.size === 8) view.setBigUint64(at, value as bigint, this.#littleEndian);
    else if (this.size === 4) view.setUint32(at, value as number, this.#littleEndian);
    else if (this.size === 2) view.setUint16(at, value as number, this.#littleEndian);
    else view.setUint8(at, value as number);
  }

  override spans(field: string, offset: number): Span[] {
    return [{ field, offset, size: this.size }];
  }
}

class Bytes extends Layout {
  readonly size: number;

  constructor(size: number) {
    super();
    this.size = size;
  }

  override read(bytes: Uint8Array, at: number): Value {
    return toHex(bytes.subarray(at, at + this.size));
  }

  override write(bytes: Uint8Array, at: number, value: Value): void {
    if (typeof value !== 'string' || value.length !== 2 * this.size)
      throw new TypeError(`${JSON.stringify(value)} for ${this.size} bytes`);
    bytes.set(fromHex(value), at);
  }

  override spans(field: string, offset: number): Span[] {
    return [{ field, offset, size: this.size }];
  }
}

class Sequence extends Layout {
  readonly size: number;
  readonly length: number;
  readonly #of: Layout;

  constructor(of: Layout, length: number) {
    super();
    this.size = of.size * length;
    this.length = length;
    this.#of = of;
  }

  override read(bytes: Uint8Array, at: number): Value {
    return Array.from({ length: this.length }, (_, i) => this.#of.read(bytes, at + i * this.#of.size));
  }

  override write(bytes: Uint8Array, at: number, value: Value): void {
    if (!Array.isArray(value) || value.length !== this.length) throw new TypeError(`not ${this.length} elements`);
    (value as readonly Value[]).forEach((element, i) => this.#of.write(bytes, at + i * this.#of.size, element));
  }

  override spans(field: string, at: number): Span[] {
    return Array.from({ length: this.length }, (_, i) => this.#of.spans(field, at + i * this.#of.size)).flat();
  }
}

interface Field {
  readonly name: string;
  readonly at: number;
  readonly layout: Layout;
}

class Structure extends Layout {
  readonly size: number;
  readonly #members: readonly Field[];

  constructor(size: number, members: readonly Field[]) {
    super();
    this.size = size;
    this.#members = members;
  }

  override read(bytes: Uint8Array, at: number): Value {
    return Object.fromEntries(
      this.#members.map(({ name, at: field, layout }) => [name, layout.read(bytes, at + field)]),
    );
  }

  override write(bytes: Uint8Array, at: number, value: Value): void {
    const fields = value as Readonly<Record<string, Value>>;
    const names = this.#members.map(({ name }) => name);
    if (Object.keys(fields).sort().join() !== names.toSorted().join())
      throw new TypeError(`fields ${Object.keys(fields).join()}, not ${names.join()}`);
    for (const { name, at: field, layout } of this.#members) layout.write(bytes, at + field, fields[name]!);
  }

  override spans(field: string, at: number): Span[] {
    return this.#members.flatMap(({ name, at: member, layout }) =>
      layout.spans(field ? `${field}.${name}` : name, at + member),
    );
  }
}

interface MapLayout {
  readonly maxEntries: number;
  readonly key: Layout | undefined;
  readonly value: Layout | undefined;
}

export class Btf {
  readonly #types: ReadonlyMap<number, RawType>;

  /** @param path of an object, or of a kernel's BTF */
  constructor(path: string) {
    const output = execFileSync('bpftool', ['btf', 'dump', '-j', 'file', path], { maxBuffer: 1 << 28 }).toString();
    // It extends the sign of what it calls unsigned: more than JSON's numbers hold.
    const { types } = JSON.parse(output.replaceAll(/"val":(-?\d+)/g, '"val":"$1"')) as { types: readonly RawType[] };
    this.#types = new Map(types.map((type) => [type.id, type]));
  }

  /** @throws Error */
  struct(name: string): Layout {
    return this.#layout(this.#named(name, (kind) => kind === 'STRUCT').id);
  }

  /** Its names and their numbers, unsigned. @throws Error */
  enumeration(name: string): Record<string, number> {
    const { values = [] } = this.#named(name, (kind) => kind.startsWith('ENUM'));
    return Object.fromEntries(values.map(({ name: of, val }) => [of, unsigned(val)]));
  }

  /** Of all enumerations. */
  enumerators(): Map<string, number> {
    return new Map(
      [...this.#types.values()].flatMap(({ values = [] }) =>
        values.map(({ name, val }) => [name, unsigned(val)] as const),
      ),
    );
  }

  /** Where the fields of a structure are, those of unions and structures without a name among them. @throws Error */
  places(name: string): { readonly size: number; readonly fields: Map<string, Omit<Span, 'field'>> } {
    const struct = this.#named(name, (kind) => kind === 'STRUCT');
    const fields = ({ members = [] }: RawType, at: number): [string, Omit<Span, 'field'>][] =>
      members.flatMap((member) => {
        const offset = at + member.bits_offset / 8;
        const type = this.#plain(member.type_id);
        if (member.name === '(anon)') return type.members ? fields(type, offset) : [];
        return [[member.name, { offset, size: this.#sizeOf(type) }]];
      });
    return { size: struct.size ?? 0, fields: new Map(fields(struct, 0)) };
  }

  maps(): Map<string, MapLayout> {
    const section = [...this.#types.values()].find(({ kind, name }) => kind === 'DATASEC' && name === '.maps');
    const variables = (section?.vars ?? []).map(({ type_id }) => this.#type(type_id));
    return new Map(variables.map(({ name, type_id }) => [name, this.#map(type_id!)]));
  }

  functions(): string[] {
    return [...this.#types.values()].filter(({ kind }) => kind === 'FUNC').map(({ name }) => name);
  }

  /** A map is declared as a structure of pointers: numbers are lengths of arrays, key and value what is pointed at. */
  #map(id: number): MapLayout {
    const members = new Map((this.#type(id).members ?? []).map(({ name, type_id }) => [name, type_id]));
    const target = (name: string): number | undefined =>
      members.has(name) ? this.#type(members.get(name)!).type_id! : undefined;
    const layout = (name: string): Layout | undefined => {
      const type = target(name);
      return type === undefined ? undefined : this.#layout(type);
    };
    return { maxEntries: this.#type(target('max_entries')!).nr_elems!, key: layout('key'), value: layout('value') };
  }

  #type(id: number): RawType {
    const type = this.#types.get(id);
    if (!type) throw new Error(`no type ${id}`);
    return type;
  }

  /** Without its other names. */
  #plain(id: number): RawType {
    const type = this.#type(id);
    return ['TYPEDEF', 'CONST', 'VOLATILE'].includes(type.kind) ? this.#plain(type.type_id!) : type;
  }

  #sizeOf({ kind, size = 0, type_id = 0, nr_elems = 0 }: RawType): number {
    if (kind === 'PTR') return 8;
    return kind === 'ARRAY' ? nr_elems * this.#sizeOf(this.#plain(type_id)) : size;
  }

  #named(name: string, is: (kind: string) => boolean): RawType {
    const found = [...this.#types.values()].find((type) => type.name === name && is(type.kind));
    if (!found) throw new Error(`no type ${name}`);
    return found;
  }

  #layout(id: number, isNetworkOrder = false): Layout {
    const { kind, name, size = 0, type_id = 0, members = [], nr_elems = 0 } = this.#type(id);
    if (kind === 'INT' || kind.startsWith('ENUM')) return new Integer(size, isNetworkOrder);
    if (['TYPEDEF', 'CONST', 'VOLATILE'].includes(kind))
      return this.#layout(type_id, isNetworkOrder || name.startsWith('__be'));
    if (kind === 'UNION') return this.#layout(members[0]!.type_id);
    if (kind === 'ARRAY') {
      const of = this.#layout(type_id);
      return of instanceof Integer && of.size === 1 ? new Bytes(nr_elems) : new Sequence(of, nr_elems);
    }
    if (kind !== 'STRUCT') throw new Error(`no layout of a ${kind}`);
    // `struct address` is a union without a name.
    if (members.length === 1 && members[0]!.name === '(anon)') return this.#layout(members[0]!.type_id);
    return new Structure(
      size,
      members
        .filter((member) => member.name !== 'reserved')
        .map((member) => ({ name: member.name, at: member.bits_offset / 8, layout: this.#layout(member.type_id) })),
    );
  }
}
