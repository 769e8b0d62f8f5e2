// The congested node's flow table: what makes a flow, wherever its packet is wrapped in, and when it is forgotten.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../src/model/address.ts';
import { EGRESS_MAPS, EGRESS_PROGRAMS } from '../../../src/kernel/dataplane/egress.ts';
import { FLOW_SETS, FLOW_WAYS, flowsIn } from '../../../src/kernel/dataplane/flows.ts';
import { LITTLE_ENDIAN, viewOf } from '../../../src/kernel/dataplane/layout.ts';
import { concat, put16 } from '../../../src/packet/bytes.ts';
import { fragment, ipv4, ipv6, options, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { CongestedRouter } from '../support/congested-router.ts';
import { H1, H1V4, H2, H2V4, QPN, data, frame } from '../support/packets.ts';
import { moreThan, until } from '../../support/until.ts';

let r: CongestedRouter;
beforeAll(async () => {
  r = await CongestedRouter.create();
});
afterAll(() => r.close());
beforeEach(() => {
  r.senders();
  r.configure({});
  r.port();
  r.clear();
});

const V4 = { source: H1V4, destination: H2V4 };

describe('the flow table', () => {
  test('LHCNP-5.1-a, LHCNP-5.2-a, LHCNP-5.2-f: holds what a notification is addressed by: source, destination and destination Queue Pair from the packet, and its PSN', () => {
    r.send(frame(data({ psn: 0xabcdef })));
    r.send(frame(data({ ...V4, qpn: 0xffffff, psn: 7 })));
    const flows = r
      .flows()
      .map((f) => [formatAddress(f.source), formatAddress(f.destination), f.destinationQpn, f.lastPsn, f.ifindex]);
    expect(flows.sort()).toEqual([
      ['10.1.0.10', '10.2.0.20', 0xffffff, 7, r.portIfindex],
      ['2001:db8:1::10', '2001:db8:2::20', QPN, 0xabcdef, r.portIfindex],
    ]);
  });

  test('LHCNP-5.2-b: has exactly one entry for each flow, whatever else differs in its packets', () => {
    const flows = [
      {},
      { qpn: 5 },
      { qpn: 6 },
      { source: address('2001:db8:1::11') },
      { destination: address('2001:db8:2::21') },
      V4,
      { ...V4, qpn: 5 },
    ];
    for (let round = 0; round < 20; round++) {
      for (const flow of flows)
        r.send(frame(data({ ...flow, psn: round, sourcePort: 0xc000 + round, ecn: round & 3, size: 8 + 4 * round })));
    }
    expect(r.flows().length).toBe(flows.length);
    expect(r.flows().filter((f) => f.packets !== 20n)).toEqual([]);
    const sets = [...r.egress.map(EGRESS_MAPS.flows).entries()];
    expect(sets.reduce((sum, [, set]) => sum + flowsIn(set), 0)).toBe(flows.length);
  });

  test('LHCNP-5.2-c: counts every packet and byte of a flow, and when it came', () => {
    const before = process.hrtime.bigint();
    const bytes = frame(data());
    r.send(bytes, { repeat: 100_000 });
    const [flow] = r.flows();
    expect(flow!.packets).toBe(100_000n);
    expect(flow!.bytes).toBe(BigInt(100_000 * bytes.length));
    expect(flow!.congestedBytes).toBe(0n);
    // The clock of the flow table ticks with the kernel's timer, every 10 ms at worst.
    expect(flow!.lastSeen).toBeGreaterThan(before - 10_000_000n);
    expect(flow!.lastSeen).toBeLessThanOrEqual(process.hrtime.bigint());
    expect(r.stats()).toMatchObject({ packets: 100_000n, bytes: BigInt(100_000 * bytes.length) });
  });

  test('LHCNP-5.5-b: counts what a flow sent into a queue above the threshold as its contribution', async () => {
    await r.fill(50_000);
    r.port({ kMin: 60_000 });
    r.send(frame(data()), { repeat: 10 });
    r.port({ kMin: 40_000 });
    r.send(frame(data()), { repeat: 3 });
    expect(r.flows()[0]!.congestedBytes).toBe(BigInt(3 * frame(data()).length));
  });

  test('LHCNP-5.2-d: an entry that is older than the ageing time begins anew', async () => {
    r.configure({ flowAgeingNs: 40_000_000 });
    r.send(frame(data()), { repeat: 5 });
    const first = r.flows()[0]!.firstSeen;
    await until('the flow is 60 ms old', () => process.hrtime.bigint(), moreThan(first + 60_000_000n));
    r.send(frame(data()), { repeat: 2 });
    expect(r.flows().length).toBe(1);
    expect(r.flows()[0]).toMatchObject({ packets: 2n });
    expect(r.flows()[0]!.firstSeen).toBeGreaterThan(first);
    expect(r.count('egress.flow.aged')).toBe(1);
  });

  test('LHCNP-5.2-e: entries that are no longer used are removed, and only those', async () => {
    for (let i = 0; i < 500; i++) r.send(frame(data({ qpn: 100 + i, size: 8 })));
    expect(r.flows().length).toBe(500);
    const age = (): void => void r.egress.program(EGRESS_PROGRAMS.age).testRun({ data: new Uint8Array(64) });
    age();
    expect(r.flows().length).toBe(500);
    const last = process.hrtime.bigint();
    await until('the flows are 2 s old', () => process.hrtime.bigint(), moreThan(last + 2_000_000_000n));
    r.send(frame(data({ qpn: 5 })));
    r.configure({ flowAgeingNs: 1_900_000_000 });
    age();
    expect(r.flows().map((f) => f.destinationQpn)).toEqual([5]);
    expect(r.count('egress.flow.aged')).toBe(500);
  });

  test('LHCNP-5.2-b: under more flows than it holds the oldest make room, and no flow has two entries', () => {
    for (let i = 0; i < 30_000; i++) r.send(frame(data({ qpn: 2 + i, size: 4 })));
    const flows = r.flows();
    expect(flows.length).toBeGreaterThan(16_000);
    expect(flows.length).toBeLessThanOrEqual(4 * FLOW_SETS);
    expect(new Set(flows.map((f) => f.destinationQpn)).size).toBe(flows.length);
    expect(r.count('egress.flow.created')).toBe(30_000);
    expect(r.count('egress.flow.evicted')).toBe(30_000 - flows.length);
  });
});

describe('a clock that another CPU has read a tick later', () => {
  test('LHCNP-5.2-d: does not make a flow look old', () => {
    const TICK = 10_000_000n;
    const LAST_SEEN = 16 + 72;
    for (let i = 0; i < 30_000; i++) r.send(frame(data({ qpn: 2 + i, size: 4 })));
    const flows = r.egress.map(EGRESS_MAPS.flows);
    for (const [key, value] of [...flows.entries()]) {
      for (let way = 0; way < FLOW_WAYS; way++) {
        const view = viewOf(value);
        const at = LAST_SEEN + (way * (value.length - 16)) / FLOW_WAYS;
        if (view.getBigUint64(at, LITTLE_ENDIAN) !== 0n)
          view.setBigUint64(at, process.hrtime.bigint() + 1000n * TICK, LITTLE_ENDIAN);
      }
      flows.update(key, value);
    }
    const evicted = r.count('egress.flow.evicted');
    for (let i = 0; i < 1000; i++) r.send(frame(data({ qpn: 50_000 + i, size: 4 })));
    expect(r.count('egress.flow.aged')).toBe(0);
    expect(r.count('egress.flow.evicted')).toBeGreaterThan(evicted + 500);
  });
});

describe('the flow is the innermost one', () => {
  const outer = [address('2001:db8:a::1'), address('2001:db8:a::2')] as const;
  const outer4 = [address('172.16.0.1'), address('172.16.0.2')] as const;
  const segment = address('2001:db8:a::3');
  test.each([
    ['SRv6 encapsulation', ipv6(outer, 43, srh(41, 0, [segment], data()))],
    ['SRv6 encapsulation without SRH', ipv6(outer, 41, data())],
    ['SRv6 behind options', ipv6(outer, 0, options(60, 1, options(43, 0, srh(41, 1, [segment, segment], data()))))],
    ['IPv6 in IPv4', ipv4(outer4, 41, data())],
    ['three tunnels', ipv6(outer, 41, ipv6(outer, 4, ipv4(outer4, 41, data())))],
    ['an atomic fragment', ipv6(outer, 44, fragment(41, 0, false, data()))],
  ])('PNC-4-c: below %s', (_, packet) => {
    r.send(frame(packet));
    expect(r.flows().map((f) => [f.source, f.destination, f.destinationQpn])).toEqual([[H1, H2, QPN]]);
  });

  test('PNC-4-c: an IPv4 flow inside SRv6', () => {
    r.send(frame(ipv6(outer, 43, srh(4, 0, [segment], data(V4)))));
    expect(r.flows().map((f) => [f.source, f.destination])).toEqual([[H1V4, H2V4]]);
  });

  test('PNC-4-c: an SRH inserted into the packet itself: the destination is its last segment', () => {
    const plain = data();
    r.send(frame(ipv6([H1, segment], 43, srh(17, 1, [H2, segment], plain.subarray(40)))));
    expect(r.flows().map((f) => [f.source, f.destination])).toEqual([[H1, H2]]);
  });

  test.each([
    ['802.1Q', [[0x8100, 100]]],
    [
      'QinQ',
      [
        [0x88a8, 200],
        [0x8100, 100],
      ],
    ],
  ] as const)('behind %s tags', (_, tags) => {
    r.send(frame(data(), { tags }));
    r.send(frame(data(V4), { tags }));
    expect(r.flows().length).toBe(2);
  });

  test('in IPv4 with options', () => {
    const plain = data(V4);
    const packet = concat(plain.subarray(0, 20), Uint8Array.of(1, 1, 1, 0), plain.subarray(20));
    packet[0] = 0x46;
    put16(packet, 2, packet.length);
    r.send(frame(packet));
    expect(r.flows().length).toBe(1);
  });
});
