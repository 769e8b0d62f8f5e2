// The parts of the YANG module's nodes: the types tie each shape to the interface of the state that it describes, the
// constants are the leaves.

export type LeafType =
  | 'string'
  | 'boolean'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'decimal64'
  | 'ip-address'
  | 'ip-prefix'
  | 'date-and-time'
  /** Any JSON: JsonText in the state. */
  | 'anyxml'
  | readonly string[];

interface LeafShape {
  readonly kind: 'leaf' | 'leaf-list';
  readonly type: LeafType;
}
export interface ContainerShape<T> {
  readonly kind: 'container';
  readonly fields: { readonly [K in keyof Required<T>]: Shape<Exclude<T[K], null | undefined>> };
}
interface ListShape<E> {
  readonly kind: 'list';
  readonly keys: readonly (keyof E)[];
  readonly fields: ContainerShape<E>['fields'];
}
type Shape<T> = [T] extends [readonly (infer E)[]]
  ? [E] extends [object]
    ? ListShape<E>
    : LeafShape
  : [T] extends [object]
    ? ContainerShape<T>
    : LeafShape;

export const leaf = (type: LeafType): LeafShape => ({ kind: 'leaf', type });
export const leafList = (type: LeafType): LeafShape => ({ kind: 'leaf-list', type });

export const STRING = leaf('string');
export const BOOLEAN = leaf('boolean');
export const UINT32 = leaf('uint32');
export const UINT64 = leaf('uint64');
/** Three fraction digits. */
export const DECIMAL = leaf('decimal64');
export const TIME = leaf('date-and-time');
export const ADDRESS = leaf('ip-address');
export const PREFIX = leaf('ip-prefix');

/** Any of them, without the type that it describes. */
export type AnyShape =
  | LeafShape
  | { readonly kind: 'container'; readonly fields: object }
  | { readonly kind: 'list'; readonly keys: readonly PropertyKey[]; readonly fields: object };
