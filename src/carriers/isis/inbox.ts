// PDUs wait here to be handled. Hellos come first, so that a flood of LSPs does not cost the adjacency. Of the others a
// batch is handled per turn of the event loop. PDUs beyond the limit are dropped and counted; IS-IS retransmits.
import { count, warnLimited } from '../effects.ts';
import type { DecodeError } from '../../packet/decode.ts';
import { decodePdu } from '../../packet/isis/pdu.ts';
import type { ReceivedPdu } from '../../packet/isis/types.ts';
import { INBOX_BATCH, INBOX_LIMIT } from './constants.ts';
import { receiveLsp } from './flooding/flooding.ts';
import { receiveHello } from './adjacency/interface.ts';
import { receiveSnp } from './flooding/snp.ts';
import type { Speaker } from './state.ts';

const PDU_TYPE_OFFSET = 4;
const isHello = (pdu: Uint8Array): boolean => (pdu[PDU_TYPE_OFFSET]! & 0x1f) <= 17;

export function enqueue(s: Speaker, pdu: Uint8Array): void {
  const { inbox } = s;
  if (isHello(pdu)) {
    // Only the latest hellos matter.
    if (inbox.hellos.length >= INBOX_BATCH) {
      inbox.hellos.shift();
      count(s, 'rx.queue-full');
    }
    inbox.hellos.push(pdu);
  } else if (inbox.others.length - inbox.taken < INBOX_LIMIT) inbox.others.push(pdu);
  else warnLimited(s, 'rx.queue-full', {}, 'PDUs arrive faster than they can be handled');
}

export function takeInbox(s: Speaker): void {
  const { inbox } = s;
  for (const pdu of inbox.hellos.splice(0)) receive(s, pdu);
  const end = Math.min(inbox.others.length, inbox.taken + INBOX_BATCH);
  while (inbox.taken < end) receive(s, inbox.others[inbox.taken++]!);
  if (inbox.taken === inbox.others.length || inbox.taken >= INBOX_LIMIT) {
    inbox.others.splice(0, inbox.taken);
    inbox.taken = 0;
  }
}

function receive(s: Speaker, bytes: Uint8Array): void {
  if (bytes.length > s.config.mtu - 3)
    return warnLimited(s, 'pdu.oversized', { length: bytes.length }, 'PDU longer than the interface allows');
  const decoded = decodePdu(bytes);
  if (decoded.ok) dispatch(s, decoded.value);
  else reject(s, decoded.error);
}

function reject(s: Speaker, error: DecodeError): void {
  warnLimited(s, `pdu.${error.code}`, { offset: error.offset, detail: error.detail }, 'malformed IS-IS PDU dropped');
}

function dispatch(s: Speaker, pdu: ReceivedPdu): void {
  if (s.stopping?.done) return;
  if (pdu.kind === 'lan-hello') {
    return warnLimited(s, 'hello.lan', {}, 'the other end sends LAN hellos: it lacks "isis network point-to-point"');
  }
  if (pdu.kind === 'p2p-hello') {
    for (const bad of pdu.badTlvs) count(s, `tlv.${bad.error.code}`);
    return receiveHello(s, pdu);
  }
  const level = s.levels.get(pdu.level);
  if (!level) return count(s, 'rx.level-not-ours');
  if (pdu.kind === 'lsp') receiveLsp(s, level, pdu);
  else receiveSnp(s, level, pdu);
}
