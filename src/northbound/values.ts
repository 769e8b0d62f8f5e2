// State values as gNMI values: plain JSON (RFC 7951 spelling of names; 64-bit numbers as text and qualified names only
// in JSON_IETF) and the scalar forms of TypedValue. Absent, null and unusable values are left out: an absent leaf is
// how YANG says "unknown".
import { create } from '@bufbuild/protobuf';
import { JsonText } from '../model/configuration-state.ts';
import { type TypedValue, TypedValueSchema } from './gen/gnmi/gnmi_pb.js';
import { MODULE, type SchemaNode } from './schema.ts';
import type { LeafType } from './shape.ts';

export interface JsonFlavor {
  /** RFC 7951: uint64 as text, names qualified with the module at the top of a value. */
  readonly ietf: boolean;
}

type Scalar = string | number | boolean;

const isUnsigned = (type: LeafType): boolean => typeof type === 'string' && type.startsWith('uint');

/**
 * The leaf's value, or undefined when it has none or one that its type cannot hold (NaN, negative). Fractions are
 * rounded, of decimals beyond the third digit.
 */
export function scalar(type: LeafType, value: unknown): Scalar | undefined {
  if (isUnsigned(type)) {
    if (typeof value !== 'number') return undefined;
    const rounded = Math.round(value);
    return Number.isSafeInteger(rounded) && rounded >= 0 ? rounded : undefined;
  }
  if (type === 'decimal64')
    return typeof value === 'number' && Number.isFinite(value) ? Math.round(value * 1000) / 1000 : undefined;
  if (type === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (type === 'anyxml') return value instanceof JsonText ? value.text : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** RFC 7951 §6.1: numbers that JSON's may not hold. */
const AS_TEXT: ReadonlySet<LeafType> = new Set(['uint64', 'decimal64']);

function jsonLeaf(node: SchemaNode, value: unknown, flavor: JsonFlavor): unknown {
  if (node.type === 'anyxml') return value instanceof JsonText ? (JSON.parse(value.text) as unknown) : undefined;
  const one = (item: unknown): Scalar | undefined => {
    const plain = scalar(node.type!, item);
    return flavor.ietf && AS_TEXT.has(node.type!) && plain !== undefined ? String(plain) : plain;
  };
  return node.kind === 'leaf-list'
    ? Array.isArray(value)
      ? value.map(one).filter((item) => item !== undefined)
      : undefined
    : one(value);
}

/** The name of a member; `top` is the outermost object of a value. */
export const memberName = (node: SchemaNode, flavor: JsonFlavor, top: boolean): string =>
  top && flavor.ietf ? `${MODULE.name}:${node.name}` : node.name;

/** A value without large lists in it, as what JSON.stringify takes; undefined when it is absent. */
export function toJson(node: SchemaNode, value: unknown, flavor: JsonFlavor, top: boolean): unknown {
  if (value === undefined || value === null) return undefined;
  if (node.kind === 'leaf' || node.kind === 'leaf-list') return jsonLeaf(node, value, flavor);
  if (Array.isArray(value)) return value.map((entry) => objectJson(node, entry, flavor, false));
  return objectJson(node, value, flavor, top);
}

function objectJson(node: SchemaNode, value: unknown, flavor: JsonFlavor, top: boolean): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const child of node.children.values()) {
    const json = toJson(child, fieldOf(value, child), flavor, false);
    if (json !== undefined) out[memberName(child, flavor, top)] = json;
  }
  return out;
}

export const fieldOf = (value: unknown, child: SchemaNode): unknown =>
  (value as Record<string, unknown> | undefined)?.[child.field];

/** Leaf or leaf-list as TypedValue (encoding PROTO); undefined when it has no value. */
export function typedValue(node: SchemaNode, value: unknown): TypedValue | undefined {
  if (value === undefined || value === null) return undefined;
  if (node.kind === 'leaf-list') {
    const element = (value as unknown[])
      .map((item) => typedScalar(node.type!, item))
      .filter((item) => item !== undefined);
    return create(TypedValueSchema, { value: { case: 'leaflistVal', value: { element } } });
  }
  return typedScalar(node.type!, value);
}

function typedScalar(type: LeafType, value: unknown): TypedValue | undefined {
  const plain = scalar(type, value);
  if (plain === undefined) return undefined;
  // gNMI has no other form of it.
  if (type === 'anyxml')
    return create(TypedValueSchema, { value: { case: 'jsonIetfVal', value: Buffer.from(plain as string) } });
  if (type === 'decimal64') return create(TypedValueSchema, { value: { case: 'doubleVal', value: plain as number } });
  if (typeof plain === 'number') return create(TypedValueSchema, { value: { case: 'uintVal', value: BigInt(plain) } });
  if (typeof plain === 'boolean') return create(TypedValueSchema, { value: { case: 'boolVal', value: plain } });
  return create(TypedValueSchema, { value: { case: 'stringVal', value: plain } });
}
