// Hostile IS-IS on the link of a running daemon: truncated, oversized, looped back, contradictory, with bits turned, in
// floods. Each is counted under its own name; the adjacency with FRR and the learned tables here and at the far end
// stay.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  AREA,
  foreignCsnp,
  foreignEntry,
  foreignHello,
  foreignLsp,
  fragmentOf,
  adjacencyTlv,
  overrun,
  patched,
  prefixEntry,
  tlv236,
} from '../../src/packet/isis/foreign.fixture.ts';
import { ALL_ISS, encodeFrame } from '../../src/packet/isis/frame.ts';
import { FIRST_LSP_ID, LAST_LSP_ID, parseSystemId } from '../../src/packet/isis/lsp-id.ts';
import type { IsisTlv, LspEntry } from '../../src/packet/isis/tlv/types.ts';
import type { Lsp, P2pHello } from '../../src/packet/isis/types.ts';
import { LOOPBACK, SENDERS6, SYSTEM, adjacent, base, proxy, watching } from './support/line.ts';
import { anyUp, Network, type Router, type Row } from './support/network.ts';
import type { Port } from './support/port.ts';
import { moreThan, until } from '../support/until.ts';

const RECEIVERS6 = '2001:db8:2::/64';

let net: Network;
let leaf: Router, far: Router;

/** leaf is attacked; what it must not forget is what far declares. */
const FAR = {
  ...base('far'),
  ...watching(),
  ...proxy('far', { senders: [{ prefix: RECEIVERS6, format: 'standard-cnp' }] }),
};

beforeAll(async () => {
  net = await Network.up('line');
  [leaf, far] = [net.router('leaf'), net.router('far')];
  await Promise.all([leaf.start({ ...base('leaf'), ...proxy('leaf') }), far.start(FAR)]);
  wire = await net.port('leaf:cnpd-isis', 'leaf:cnpd-isis');
  await adjacent(net, 'leaf', 'far');
  await until(
    'each knows the other',
    async () => [await leaf.sender(RECEIVERS6), await far.sender(SENDERS6)],
    (rows) => rows.every((row) => row?.['proxy'] !== undefined),
  );
});
afterAll(() => net?.down());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
  // Whatever was thrown at it: nothing that the daemon did not expect.
  expect(await leaf.counter('daemon.unexpected-error')).toBe(0);
});

const changed = (name: string, before: Record<string, number>, after: Record<string, number>): number =>
  (after[name] ?? 0) - (before[name] ?? 0);
const id = (text: string): Uint8Array => parseSystemId(text)!;
const FRR = id('0000.0000.0001');
const OWN = id(SYSTEM.leaf);
const STRANGER = id('0000.0000.dead');
/** FRR's end of cnpd's link: what is sent there comes to cnpd as if from FRR. */
let wire: Port;
const give = (pdu: Uint8Array): void =>
  wire.sendFrame(encodeFrame(Uint8Array.of(2, 0x63, 0x6e, 0x70, 0, 1), ALL_ISS, pdu));

const lsp = (fields: Partial<Lsp> = {}, system = STRANGER): Uint8Array =>
  foreignLsp(system, { sequence: 7, ...fields });
const hello = (fields: Partial<P2pHello> = {}, more: IsisTlv[] = []): Uint8Array =>
  foreignHello(FRR, { tlvs: [AREA, ...more], ...fields });
/** ISO/IEC 10589 §9.6: fixed part of 27 bytes, PDU type 16. */
const lanHello = (): Uint8Array => Uint8Array.of(0x83, 27, 1, 0, 16, 1, 0, 0, 2, ...FRR, 0, 30, 0, 27, 64, ...FRR, 1);
const entry = (fields: Partial<LspEntry> = {}): LspEntry => foreignEntry(STRANGER, fields);
const reachable = (flags: number): IsisTlv =>
  tlv236(
    prefixEntry('2001:db8:66::/64', [{ kind: 'prefix-attribute-flags', flags: Uint8Array.of(flags) }], {
      metric: 0xfe000001,
    }),
  );

/** The adjacency never went, and both tables hold what they held. */
const intact = async (was: number): Promise<void> => {
  expect(await leaf.isUp()).toBe(true);
  // The time stamp is computed from two clocks, each in whole milliseconds.
  expect(Math.abs((await since()) - was)).toBeLessThan(10);
  expect((await leaf.sender(RECEIVERS6))?.['proxy']).toBe(LOOPBACK.far.ipv6);
  expect((await far.sender(SENDERS6))?.['proxy']).toBe(LOOPBACK.leaf.ipv6);
};
const since = async (): Promise<number> => Date.parse((await leaf.get('isis', 'neighbors'))[0]!['since'] as string);

test.each<[string, string, () => Uint8Array]>([
  ['an LSP with a wrong checksum', 'isis.pdu.bad-checksum', () => patched(lsp({ tlvs: [reachable(1)] }), 30, 0x55)],
  [
    'an LSP under the name of the far agent with a wrong checksum',
    'isis.pdu.bad-checksum',
    () => patched(lsp({ sequence: 0xffffffff, tlvs: [reachable(1)] }, id(SYSTEM.far)), 28, 9),
  ],
  ['an LSP whose length goes beyond the frame', 'isis.pdu.truncated', () => patched(lsp(), 8, 5, 0)],
  [
    'an LSP that lists a prefix with and without the flag',
    'isis.lsp.contradictory-prefix',
    () => lsp({ sequence: 9, tlvs: [reachable(1), reachable(0)] }),
  ],
  [
    'a hello with two TLVs 240 that differ',
    'isis.hello.contradictory',
    () => hello({}, [adjacencyTlv(OWN), adjacencyTlv(OWN, 'down')]),
  ],
  ['a hello of our own, looped back', 'isis.hello.own-system-id', () => hello({ systemId: OWN }, [adjacencyTlv(OWN)])],
  ['a hello of a LAN', 'isis.hello.lan', () => lanHello()],
  ['an SNP of our own, looped back', 'isis.snp.own-system-id', () => foreignCsnp(OWN, [])],
  ['an SNP of a stranger', 'isis.snp.wrong-source', () => foreignCsnp(STRANGER, [entry()])],
  [
    'a CSNP that ends before it starts',
    'isis.csnp.bad-range',
    () => foreignCsnp(FRR, [], { start: LAST_LSP_ID, end: FIRST_LSP_ID }),
  ],
  [
    'an SNP that lists an LSP in two versions',
    'isis.snp.contradictory',
    () => foreignCsnp(FRR, [entry(), entry({ sequence: 8 })]),
  ],
  [
    'an LSP of ours, looped back with a higher sequence number',
    'isis.own.sequence-bumped',
    () => lsp({ sequence: 0xf0000000, lspId: fragmentOf(OWN, 1) }, OWN),
  ],
])('%s is counted as %s; adjacency and tables are intact', async (_name, counter, build) => {
  const [was, before] = [await since(), await leaf.counter(counter)];
  give(build());
  await until('counted', () => leaf.counter(counter), moreThan(before));
  await intact(was);
});

test.each<[string, (sequence: number) => Uint8Array]>([
  [
    'that ends in the middle of a TLV',
    (sequence) => overrun(lsp({ sequence, lspId: fragmentOf(id(SYSTEM.far), 1) }, id(SYSTEM.far))),
  ],
  [
    'with a malformed TLV',
    (sequence) =>
      lsp({
        sequence,
        lspId: fragmentOf(id(SYSTEM.far), 1),
        tlvs: [{ kind: 'unknown', type: 236, value: Uint8Array.of(0, 0, 0, 1, 0, 200, 1) }],
      }),
  ],
  [
    'that is a purge with a wrong checksum',
    (sequence) => patched(lsp({ sequence, remainingLifetime: 0, lspId: fragmentOf(id(SYSTEM.far), 1) }), 24, 1, 2),
  ],
])(
  'an LSP of the far agent %s, which FRR does not have, takes nothing away: FRR is asked, and it is forgotten',
  async (_name, build) => {
    const [was, before] = [await since(), await leaf.counter('isis.lsp.refused-by-neighbor')];
    const held = async (): Promise<Row> =>
      (await leaf.get('isis', 'database')).find((row) => row['lsp-id'] === `${SYSTEM.far}.00-01`)!;
    const sequence = Number((await held())['sequence']);
    give(build(sequence + 5));
    await until(
      'forgotten',
      async () => {
        expect((await leaf.sender(RECEIVERS6))?.['proxy']).toBe(LOOPBACK.far.ipv6);
        return leaf.counter('isis.lsp.refused-by-neighbor');
      },
      moreThan(before),
    );
    expect((await held())['sequence']).toBe(sequence);
    await intact(was);
  },
);

test('an LSP longer than the link carries is counted as isis.pdu.oversized; adjacency and tables are intact', async () => {
  const was = await since();
  const long = lsp({
    sequence: 11,
    tlvs: Array.from({ length: 6 }, (_, i): IsisTlv => ({ kind: 'padding', length: i < 5 ? 255 : 187 })),
  });
  expect(long.length).toBe(1501);
  // veth lets four bytes more than the MTU pass, for a VLAN tag; the sending end must allow them too.
  await leaf.exec('ip', 'link', 'set', 'cnpd-isis', 'mtu', '1504');
  give(long);
  await leaf.exec('ip', 'link', 'set', 'cnpd-isis', 'mtu', '1500');
  await until('counted', () => leaf.counter('isis.pdu.oversized'), moreThan(0));
  await intact(was);
});

const samples = {
  hello: hello({}, [adjacencyTlv(OWN)]),
  LSP: lsp({ tlvs: [reachable(1), AREA] }),
  CSNP: foreignCsnp(FRR, [entry()]),
};

test.each(['LSP', 'CSNP', 'hello'] as const)(
  'every truncation of a %s and 5,000 with bits turned: counted; adjacency and tables are intact',
  async (kind) => {
    const was = await since();
    const sample = samples[kind];
    let seed = 1;
    const random = (below: number): number => (seed = (seed * 48271) % 0x7fffffff) % below;
    const before = await leaf.counters();
    for (let length = 0; length < sample.length; length++) {
      give(sample.slice(0, length));
      if (length % 25 === 0) await leaf.get('status');
    }
    for (let i = 0; i < 5000; i++) {
      const copy = sample.slice();
      for (let n = 0; n < 3; n++) {
        const at = random(copy.length);
        // The system ID stays: a hello of another system is no damage but another neighbor.
        if (at < 9 || at > 15) copy[at] = copy[at]! ^ (1 << random(8));
      }
      give(copy);
      // Of hellos that wait cnpd reads the last few, of others some thousands: what is to be tested is reading them,
      // not overflowing the inbox.
      if (i % (kind === 'hello' ? 25 : 500) === 0) await leaf.get('status');
    }
    await until(
      'a thousand are counted',
      async () => {
        const now = await leaf.counters();
        const bad = Object.keys(now).filter((name) => /^isis\.(pdu|tlv|sub-tlv|frame|hello)\./.test(name));
        return bad.reduce((sum, name) => sum + changed(name, before, now), 0);
      },
      moreThan(1000),
    );
    // A hello that is still well formed may say that the neighbor has restarted, and is believed until the next.
    if (kind === 'hello') await until('the adjacency is up', () => leaf.neighbors(), anyUp);
    await intact(kind === 'hello' ? await since() : was);
    const memory = Number(/VmRSS:\s+(\d+)/.exec(await leaf.exec('cat', `/proc/${leaf.pid}/status`))![1]);
    expect(memory).toBeLessThan(200_000);
  },
);

test('30,000 LSPs of unreachable systems teach nothing, and hellos are answered meanwhile', async () => {
  const was = await since();
  for (let i = 0; i < 30_000; i++) {
    give(
      lsp({
        lspId: { systemId: Uint8Array.of(0xde, 0xad, 0, 0, i >> 8, i & 255), pseudonode: 0, fragment: 0 },
        tlvs: [reachable(1)],
      }),
    );
    if (i % 1000 === 999) await leaf.get('status');
  }
  const known = await leaf.get('senders');
  expect(known.filter((row) => row['prefix'] === '2001:db8:66::/64' && row['best'] === true)).toEqual([]);
  expect((await leaf.ctl('show', 'senders', '2001:db8:66::1')).code).toBe(1);
  await intact(was);
});
