// A neighbor that floods: takes the place of FRR on `cnpd-isis`, brings the adjacency up, and sends LSPs of as many
// systems as ordered, all of them its neighbors, at once; what is not acknowledged is sent again. Arguments: count,
// prefixes an LSP. Prints `sent` when all were sent once.
import { readLsp } from '../../../src/carriers/isis/lsdb/content.ts';
import { ISIS_KINDS } from '../../../src/carriers/isis/kinds/table.ts';
import { handle } from '../../../src/carriers/isis/speaker.ts';
import { type StoredLsp, identityOf, put } from '../../../src/carriers/isis/lsdb/lsdb.ts';
import type { Effect, SpeakerEvent } from '../../../src/carriers/isis/state.ts';
import { createSpeaker } from '../../../src/carriers/isis/speaker.ts';
import { nextWake } from '../../../src/carriers/isis/tasks.ts';
import { isKernelError } from '../../../src/kernel/errors.ts';
import { openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { address } from '../../../src/model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../../src/model/code-points.ts';
import { foreignLsp, fragmentOf } from '../../../src/packet/isis/foreign.fixture.ts';
import { ALL_ISS, decodeFrame, encodeFrame } from '../../../src/packet/isis/frame.ts';
import { decodePdu } from '../../../src/packet/isis/pdu.ts';
import { packNeighbors } from '../../../src/packet/isis/tlv/is-reachability.ts';
import type { IsisTlv } from '../../../src/packet/isis/tlv/types.ts';

const [lsps, prefixesEach] = process.argv.slice(2).map(Number);
const CODE_POINTS = { codePoints: DEFAULT_CODE_POINTS };
const systemId = Uint8Array.of(0, 0, 0, 0, 0x11, 0x11);
const speaker = createSpeaker(
  {
    systemId,
    area: Uint8Array.of(0x49, 0, 1),
    levels: [2],
    mtu: 1500,
    circuitId: 1,
    ...CODE_POINTS,
    startSequence: 1,
    seed: 1,
    lsdbLimit: 100_000,
    lsdbBytes: Infinity,
    helloIntervalMs: 1000,
    holdMultiplier: 10,
    lifetimeSeconds: 1200,
    refreshSeconds: 900,
    holdUnreachableMs: 1000,
    keys: {},
  },
  '0000.0000.1111',
);

const SYSTEMS_A_LSP = 120;
const idOf = (i: number): Uint8Array => Uint8Array.of(2, 0, 0, 0, i >> 8, i & 255);
const neighbors = (ids: readonly Uint8Array[]): IsisTlv[] =>
  packNeighbors(ids.map((id) => ({ systemId: id, pseudonode: 0, metric: 10, subTlvs: new Uint8Array() })));
const lsp = (system: Uint8Array, fragment: number, tlvs: IsisTlv[]): Uint8Array =>
  foreignLsp(fragmentOf(system, fragment), { tlvs });

/** A fragment of our own that lists some of the systems, so that they are reachable. */
const hub = (k: number): Uint8Array => {
  const count = Math.min(SYSTEMS_A_LSP, lsps! - k * SYSTEMS_A_LSP);
  return lsp(systemId, 1 + k, neighbors(Array.from({ length: count }, (_, i) => idOf(k * SYSTEMS_A_LSP + i))));
};

function foreign(i: number): Uint8Array {
  const prefix = (k: number) =>
    ({ address: { family: 6, value: (0x20010db8n << 96n) | (BigInt(i * 64 + k) << 64n) }, length: 64 }) as const;
  const entry = (k: number) => ({ prefix: prefix(k), metric: 10, down: false, external: false, subTlvs: [] });
  const all = Array.from({ length: prefixesEach! }, (_, k) => entry(k));
  const tlvs: IsisTlv[] = [];
  for (let at = 0; at < all.length; at += 10)
    tlvs.push({ kind: 'ipv6-reachability', prefixes: all.slice(at, at + 10) });
  return lsp(idOf(i), 0, [...neighbors([systemId]), ...tlvs]);
}

const all = [
  ...Array.from({ length: lsps! }, (_, i) => foreign(i)),
  ...Array.from({ length: Math.ceil(lsps! / SYSTEMS_A_LSP) }, (_, k) => hub(k)),
];
for (const bytes of all) {
  const decoded = decodePdu(bytes);
  if (!decoded.ok || decoded.value.kind !== 'lsp') throw new Error('not an LSP');
  const { raw, sequence, checksum } = decoded.value;
  const { content } = readLsp(decoded.value, ISIS_KINDS, CODE_POINTS, false);
  const stored: StoredLsp = {
    ...identityOf(raw),
    own: false,
    raw,
    sequence,
    checksum,
    expiresAt: performance.now() + 1_200_000,
    purged: false,
    content,
    entries: 0,
    expanded: false,
    odd: false,
    reported: false,
  };
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
