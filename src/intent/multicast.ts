// The section `srv6.multicast`: what is the same for all End.MT groups at this router.
import type * as z from 'zod';
import { defaulted, filled, section } from './schema-parts.ts';
import { onOff, size, time } from './values.ts';

export interface MulticastIntent {
  /** From a new tree to its use by the root, milliseconds. */
  readonly settleMs: number;
  /** A branch that has not confirmed what it was sent for this long has stalled, milliseconds. */
  readonly stallMs: number;
  readonly dropStalled: boolean;
  /** The most octets of End.MT TLVs in a packet. */
  readonly tlvLimit: number;
}

export const schema = section(
  {
    'settle-time': defaulted(
      time('0s', '1min'),
      '500ms',
      'the root uses a new tree this long after it has computed it: the other routers have it by then',
    ),
    'stall-timeout': defaulted(
      time('100ms', '10min'),
      '10s',
      'a receiver or router that has confirmed nothing for this long, although packets are due, is a problem',
    ),
    'drop-stalled': defaulted(
      onOff,
      'off',
      (text) => `on: the source no longer waits for such a receiver, which then misses data; default ${text}`,
    ),
    'tlv-limit': defaulted(
      size('0B', '2048B'),
      '512B',
      'the most octets of End.MT TLVs in a packet; where the receivers need more, edges use what they have learned',
    ),
  },
  'what is the same for all End.MT groups at this router',
);

export function build(declared: z.output<typeof schema> | undefined): MulticastIntent {
  const all = filled(schema, declared);
  return {
    settleMs: all['settle-time'],
    stallMs: all['stall-timeout'],
    dropStalled: all['drop-stalled'],
    tlvLimit: all['tlv-limit'],
  };
}
