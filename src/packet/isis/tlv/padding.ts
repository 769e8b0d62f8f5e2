// TLV 8, Padding (ISO/IEC 10589 §9.5): its content has no meaning.
import { field } from '../../field.ts';
import { ok } from '../../../model/result.ts';
import type { Padding } from './types.ts';
import { type TlvCodec } from './codec.ts';

export const PADDING: TlvCodec<Padding> = {
  type: 8,
  name: 'padding',
  decode: (value) => ok({ kind: 'padding', length: value.length }),
  encode: ({ length }) => new Uint8Array(field('padding length', length, 8)),
};
