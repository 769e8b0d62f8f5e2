// Which traffic a hold is about: keys of the map of holds, struct hold_key (bpf/lib/hold/layout.h).
import type { HeldTraffic, Traffic } from '../../model/flow-control.ts';
import type { QueuePairs } from '../../model/roce.ts';
import { LITTLE_ENDIAN, putMapped, structure, unmappedAddressAt, viewOf } from './layout.ts';

/** A flow as its packets name it: addresses and destination Queue Pair. */
export type HeldFlow = Omit<QueuePairs, 'senderQpn'>;

/** A flow at every port, or traffic at one. */
export type HeldSubject = HeldFlow | HeldTraffic;

export const isHeldTraffic = (subject: HeldSubject): subject is HeldTraffic => 'traffic' in subject;

/** enum hold_kind. */
export const HOLD_KIND = { flow: 1, service: 2, priority: 3, tuple: 4 } as const;

export type HoldKind = keyof typeof HOLD_KIND;

/** What traffic of a mode is held by. */
export const KIND_OF_MODE: Readonly<Record<Traffic['mode'], HoldKind>> = {
  service: 'service',
  flow: 'tuple',
  priority: 'priority',
};

const UDP = 17;

/** struct hold_key, and the offsets in it. */
const HOLD_KEY_SIZE = 48;

const KEY = { source: 0, destination: 16, id: 32, ifindex: 36, kind: 40, protocol: 41 } as const;

export const encodeHoldKey = (subject: HeldSubject): Uint8Array =>
  structure(HOLD_KEY_SIZE, (view, bytes) => {
    if (isHeldTraffic(subject)) return putTraffic(view, bytes, subject);
    putMapped(bytes, KEY.source, subject.sender);
    putMapped(bytes, KEY.destination, subject.receiver);
    view.setUint32(KEY.id, subject.receiverQpn, LITTLE_ENDIAN);
    bytes[KEY.kind] = HOLD_KIND.flow;
  });

function putTraffic(view: DataView, bytes: Uint8Array, { traffic, egress }: HeldTraffic): void {
  bytes[KEY.kind] = HOLD_KIND[KIND_OF_MODE[traffic.mode]];
  view.setUint32(KEY.ifindex, egress, LITTLE_ENDIAN);
  if (traffic.mode === 'priority') return view.setUint32(KEY.id, traffic.priority, LITTLE_ENDIAN);
  putMapped(bytes, KEY.source, traffic.source);
  putMapped(bytes, KEY.destination, traffic.destination);
  if (traffic.mode === 'service') return void (bytes[KEY.protocol] = traffic.protocol);
  bytes[KEY.protocol] = UDP;
  view.setUint32(KEY.id, traffic.sourcePort * 0x1_0000 + traffic.destinationPort, LITTLE_ENDIAN);
}

/** Undefined for a kind of hold that this version does not know. */
export function decodeHoldKey(key: Uint8Array): HeldSubject | undefined {
  if (key[KEY.kind] !== HOLD_KIND.flow) return decodeTrafficKey(viewOf(key), 0);
  const view = viewOf(key);
  return {
    sender: unmappedAddressAt(view, KEY.source),
    receiver: unmappedAddressAt(view, KEY.destination),
    receiverQpn: view.getUint32(KEY.id, LITTLE_ENDIAN),
  };
}

/** struct hold_key at `offset`. Undefined unless it is of traffic. */
export function decodeTrafficKey(view: DataView, offset: number): HeldTraffic | undefined {
  const id = view.getUint32(offset + KEY.id, LITTLE_ENDIAN);
  const egress = view.getUint32(offset + KEY.ifindex, LITTLE_ENDIAN);
  const kind = view.getUint8(offset + KEY.kind);
  if (kind === HOLD_KIND.priority) return { egress, traffic: { mode: 'priority', priority: id } };
  const source = unmappedAddressAt(view, offset + KEY.source);
  const destination = unmappedAddressAt(view, offset + KEY.destination);
  if (kind === HOLD_KIND.service) {
    const protocol = view.getUint8(offset + KEY.protocol);
    return { egress, traffic: { mode: 'service', source, destination, protocol } };
  }
  if (kind !== HOLD_KIND.tuple) return undefined;
  return {
    egress,
    traffic: { mode: 'flow', source, destination, sourcePort: id >>> 16, destinationPort: id & 0xffff },
  };
}
