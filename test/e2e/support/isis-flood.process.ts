// A neighbour that floods: takes the place of FRR on `cnpd-isis`, brings the adjacency up, and sends LSPs of as many systems as it is told, all at once;
// what is not acknowledged is sent again. Arguments: count, prefixes an LSP. Prints `sent` when all were sent once.
import { readLsp } from '../../../src/carriers/isis/content.ts';
import { handle } from '../../../src/carriers/isis/events.ts';
import { type StoredLsp, identityOf, put } from '../../../src/carriers/isis/lsdb.ts';
import { type Effect, type SpeakerEvent, createSpeaker } from '../../../src/carriers/isis/speaker.ts';
import { nextWake } from '../../../src/carriers/isis/tasks.ts';
import { isKernelError } from '../../../src/kernel/errors.ts';
import { openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { address } from '../../../src/model/address.ts';
import { ALL_ISS, decodeFrame, encodeFrame } from '../../../src/packet/isis/frame.ts';
import { decodePdu, encodePdu } from '../../../src/packet/isis/pdu.ts';
import type { IsisTlv } from '../../../src/packet/isis/types.ts';

const [lsps, prefixesEach] = process.argv.slice(2).map(Number);
const CODE_POINTS = { pncFlagBit: 7, sidBehaviors: [] };
const systemId = Uint8Array.of(0, 0, 0, 0, 0x11, 0x11);
const speaker = createSpeaker(
  {
    systemId, area: Uint8Array.of(0x49, 0, 1), levels: [2], mtu: 1500, circuitId: 1, ...CODE_POINTS, startSequence: 1, seed: 1, lsdbLimit: 100_000,
    helloIntervalMs: 1000, holdMultiplier: 10, lifetimeSeconds: 1200, refreshSeconds: 900, holdUnreachableMs: 1000, keys: {},
  },
  '0000.0000.1111',
);

function foreign(i: number): Uint8Array {
  const prefix = (k: number) => ({ address: { family: 6, value: (0x20010db8n << 96n) | (BigInt(i * 64 + k) << 64n) }, length: 64 }) as const;
  const entry = (k: number) => ({ prefix: prefix(k), metric: 10, down: false, external: false, subTlvs: [] });
  const all = Array.from({ length: prefixesEach! }, (_, k) => entry(k));
  const tlvs: IsisTlv[] = [];
  for (let at = 0; at < all.length; at += 10) tlvs.push({ kind: 'ipv6-reachability', prefixes: all.slice(at, at + 10) });
  const lspId = { systemId: Uint8Array.of(2, 0, 0, 0, i >> 8, i & 255), pseudonode: 0, fragment: 0 };
  const flags = { checksum: 0, partitionRepair: false, attached: false, overload: false, isType: 3 };
  return encodePdu({ kind: 'lsp', level: 2, remainingLifetime: 1200, lspId, sequence: 1, ...flags, tlvs });
}

for (let i = 0; i < lsps!; i++) {
  const decoded = decodePdu(foreign(i));
  if (!decoded.ok || decoded.value.kind !== 'lsp') throw new Error('not an LSP');
  const { raw, sequence, checksum } = decoded.value;
  const { content } = readLsp(decoded.value, CODE_POINTS, false);
  const stored: StoredLsp = { ...identityOf(raw), own: false, raw, sequence, checksum, expiresAt: performance.now() + 1_200_000, purged: false, content, reported: false };
  put(speaker.levels.get(2)!.lsdb, stored);
}

const poller = Poller.open({ onError: (error) => console.error(error) });
const socket = openPacketSocket(
  { interface: 'cnpd-isis', multicast: [ALL_ISS], receiveBuffer: 4 << 20 },
  {
    poller,
    onFrame: (frame) => {
      const decoded = decodeFrame(frame);
      if (decoded.ok) dispatch({ type: 'received', pdu: decoded.value.pdu.slice() });
    },
    onError: (error) => console.error(error),
  },
);

function send(pdu: Uint8Array): void {
  try {
    socket.send(encodeFrame(socket.mac, ALL_ISS, pdu));
  } catch (error) {
    if (!isKernelError(error, 'ENOBUFS')) throw error;
  }
}

let flooded = false;
function dispatch(event: SpeakerEvent): void {
  const effects: Effect[] = handle(speaker, event, performance.now());
  for (const effect of effects) if (effect.type === 'send') send(effect.pdu);
  if (flooded || speaker.adjacency?.state !== 'up') return;
  flooded = true;
  for (const lsp of speaker.levels.get(2)!.lsdb.byKey.values()) send(lsp.raw);
  console.log('sent');
}

dispatch({ type: 'link-up', linkLocal: address('fe80::1111') });
const tick = (): void => {
  if (nextWake(speaker) <= performance.now()) dispatch({ type: 'timer' });
  setTimeout(tick, 5);
};
tick();
