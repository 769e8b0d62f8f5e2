// The tunnel entry, on packets that the kernel's own H.Encaps has encapsulated a moment before: the outer source, the
// outer congestion field and the outer DSCP as they leave on the wire.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address, formatAddress } from '../../../src/model/address.ts';
import { ipv6, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { walkHeaders } from '../../../src/packet/ip/walk.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { type Data, H1, H1V4, H2, H2V4, NEXT, context, data, frame } from '../support/packets.ts';
import { CON_A, CON_B, LOOPBACK, ProviderEdge, REMOTE, TRANSIT, trafficClass } from '../support/srv6-scene.ts';
import { is, until } from '../../support/until.ts';

let pe: ProviderEdge;
beforeAll(async () => {
  pe = await ProviderEdge.create();
  pe.attach('encap');
});
afterAll(() => pe.close());
beforeEach(() => {
  pe.clear();
  pe.configure({});
});

const FAMILIES = {
  6: { source: H1, destination: H2, to: '2001:db8:2::/48' },
  4: { source: H1V4, destination: H2V4, to: '10.2.0.0/16' },
} as const;
const ECN = { 'Not-ECT': 0, 'ECT(1)': 1, 'ECT(0)': 2, CE: 3 } as const;

interface Tunneled {
  readonly source: string;
  readonly trafficClass: number;
  /** Headers between the outer one and the packet inside. */
  readonly hasSrh: boolean;
  readonly inner: Uint8Array;
}

/** What comes out of the core port when these packets arrive from a customer. */
async function tunneled(packets: readonly Uint8Array[], from: 'h1' | 'h2' = 'h1'): Promise<Tunneled[]> {
  pe.captured.p.length = 0;
  const isTunnel = (f: Uint8Array): boolean => f[12] === 0x86 && f[13] === 0xdd && [4, 41, 43].includes(f[14 + 6]!);
  for (const packet of packets) pe.arrive(from, packet);
  await until('the packets left the core port', () => pe.captured.p.filter(isTunnel).length, is(packets.length));
  return pe.captured.p.filter(isTunnel).map((f) => {
    const packet = f.subarray(14);
    const layers = walkHeaders(packet).layers;
    const hasSrh = packet[6] === 43;
    return {
      source: formatAddress(layers[0]!.source),
      trafficClass: trafficClass(packet),
      hasSrh,
      inner: packet.subarray(40 + (hasSrh ? (packet[41]! + 1) * 8 : 0)),
    };
  });
}

const withDscp = (packet: Uint8Array, dscp: number): Uint8Array => {
  const out = packet.slice();
  const tc = (dscp << 2) | (trafficClass(packet) & 3);
  out[0] = (out[0]! & 0xf0) | (tc >> 4);
  out[1] = (out[1]! & 0x0f) | ((tc & 15) << 4);
  return out;
};

describe.each([6, 4] as const)('IPv%i inside', (family) => {
  const { source, destination, to } = FAMILIES[family];
  const packet = (d: Data = {}): Uint8Array => data({ source, destination, ...d });

  describe.each(['srh', 'reduced'] as const)('encapsulated by the kernel, %s', (mode) => {
    beforeEach(() => pe.encapsulate(to, mode));

    test.each(Object.entries(ECN))(
      'A16: FCN-4.2.1-b: FCN-4.2.1-a: normal mode: %s outside as inside',
      async (_, ecn) => {
        const [found] = await tunneled([packet({ ecn })]);
        expect(found!.trafficClass & 3).toBe(ecn);
        expect(found!.hasSrh).toBe(mode === 'srh');
        expect(found!.inner).toEqual(packet({ ecn }));
      },
    );

    test.each(Object.entries(ECN))(
      'A16: FCN-4.2.1-c: compatibility mode: Not-ECT outside whatever is inside: %s',
      async (_, ecn) => {
        pe.configure({ ecnMode: 'compatibility' });
        const [found] = await tunneled([packet({ ecn })]);
        expect(found!.trafficClass & 3).toBe(0);
        expect(found!.inner).toEqual(packet({ ecn }));
      },
    );

    test('FCN-4.2.2-c: END.CON is the outer source of every packet with RoCEv2 data', async () => {
      const found = await tunneled([packet(), packet({ psn: 2, opcode: OPCODE.writeMiddle, size: 4096 })]);
      expect(found.map((t) => t.source)).toEqual([formatAddress(CON_A), formatAddress(CON_A)]);
      expect(pe.count('srv6.encap.source')).toBe(2);
    });
  });

  test('FCN-4.2.2-c: two END.CON SIDs, by the interface that the packet came in by', async () => {
    pe.encapsulate(to, 'reduced');
    pe.configure({ hasRows: true });
    for (const net of ['::/0', '0.0.0.0/0']) pe.tunnelSource(pe.ifindex.c2, net, CON_B);
    expect((await tunneled([packet()], 'h1'))[0]!.source).toBe(formatAddress(CON_A));
    expect((await tunneled([packet()], 'h2'))[0]!.source).toBe(formatAddress(CON_B));
  });

  test("FCN-4.2.2-c: two END.CON SIDs, by the sender's prefix; the interface goes before the prefix, a longer prefix before a shorter", async () => {
    pe.encapsulate(to, 'reduced');
    pe.configure({ hasRows: true, defaultSource: null });
    const [wide, narrow, other] =
      family === 6
        ? ['2001:db8::/32', '2001:db8:1::/64', '2001:db8:1:1::10']
        : ['10.0.0.0/8', '10.1.0.0/24', '10.1.7.10'];
    const from = (a: IpAddress): Uint8Array => packet({ source: a });
    expect((await tunneled([packet()]))[0]!.source).toBe(formatAddress(LOOPBACK));
    expect(pe.count('srv6.encap.no-source')).toBe(1);
    pe.tunnelSource(0, wide, CON_A);
    pe.tunnelSource(0, narrow, CON_B);
    expect((await tunneled([packet(), from(address(other))])).map((t) => t.source)).toEqual([
      formatAddress(CON_B),
      formatAddress(CON_A),
    ]);
    pe.tunnelSource(pe.ifindex.c1, wide, CON_A);
    expect((await tunneled([packet()]))[0]!.source).toBe(formatAddress(CON_A));
  });

  test('RFC 2983: pipe leaves the outer DSCP as it was written, or sets the one configured; uniform copies it', async () => {
    pe.encapsulate(to, 'srh');
    const sent = family === 6 ? withDscp(packet({ ecn: 1 }), 26) : packet({ ecn: 1 });
    const before = (await tunneled([sent]))[0]!.trafficClass;
    pe.configure({ dscp: { kind: 'pipe', outerDscp: 46 } });
    expect((await tunneled([sent]))[0]!.trafficClass).toBe((46 << 2) | 1);
    pe.configure({ dscp: { kind: 'uniform' } });
    expect((await tunneled([sent]))[0]!.trafficClass).toBe(family === 6 ? (26 << 2) | 1 : 1);
    expect(before & 3).toBe(1);
  });
});

describe('what is left alone', () => {
  beforeEach(() => pe.encapsulate('2001:db8:2::/48', 'srh'));

  test('FCN-4.2.2-c: a tunnel of something else keeps its source, and its ECN field is right all the same', async () => {
    const acknowledgement = data({ opcode: OPCODE.acknowledge, ecn: 3 });
    const [found] = await tunneled([acknowledgement]);
    expect({ ...found, ecn: found!.trafficClass & 3 }).toMatchObject({ source: formatAddress(LOOPBACK), ecn: 3 });
    expect(pe.count('srv6.encap.source')).toBe(0);
  });

  test('FCN-4.2.2-c: a tunnel that begins elsewhere and only passes through keeps its source', async () => {
    const foreign = address('2001:db8:aaaa::1');
    pe.arrive('h1', ipv6([foreign, address('2001:db8:e2::1')], 41, data()));
    await until(
      'it left',
      () => pe.captured.p,
      (all) => all.some((f) => f[20] === 41),
    );
    expect(formatAddress(walkHeaders(pe.captured.p.find((f) => f[20] === 41)!.subarray(14)).layers[0]!.source)).toBe(
      formatAddress(foreign),
    );
    expect(pe.count('srv6.encap.source')).toBe(0);
  });

  test('FCN-4.2.2-c: an SRH with an HMAC, which covers the source, keeps its source and is counted', async () => {
    const set = pe.netns.run(() =>
      spawnSync('ip', ['sr', 'hmac', 'set', '42', 'sha256'], { input: 'secret\n', encoding: 'utf8' }),
    );
    expect({ status: set.status, stderr: set.stderr.replace(/.*: /, '') }).toEqual({ status: 0, stderr: '' });
    pe.encapsulate('2001:db8:2::/48', 'srh', ' hmac 42');
    const [found] = await tunneled([data({ ecn: 3 })]);
    expect({ ...found, ecn: found!.trafficClass & 3 }).toMatchObject({
      source: formatAddress(LOOPBACK),
      ecn: 3,
      hasSrh: true,
    });
    expect({ hmac: pe.count('srv6.encap.hmac'), source: pe.count('srv6.encap.source') }).toEqual({
      hmac: 1,
      source: 0,
    });
    expect({ srhTlv: pe.captured.p.find((f) => f[20] === 43)![14 + 40 + 8 + 32] }).toEqual({ srhTlv: 5 });
  });

  test('frames that end within their headers, and random ones, leave as they came', () => {
    const whole = frame(ipv6([LOOPBACK, REMOTE], 43, srh(41, 1, [REMOTE, TRANSIT], data({ size: 8 }))));
    const send = (bytes: Uint8Array): { retval: number; data: Uint8Array } =>
      pe.srv6
        .program('srv6_encap')
        .testRun({ data: bytes, ctx: context({ ifindex: pe.ifindex.core }), netns: pe.netns });
    for (let length = 14 + 40; length < whole.length - 4 - 8 - 12; length++) {
      const result = send(whole.subarray(0, length));
      expect({ retval: result.retval, start: result.data.subarray(0, 15) }).toEqual({
        retval: NEXT,
        start: whole.subarray(0, 15),
      });
      expect(result.data.subarray(16)).toEqual(whole.subarray(16, length));
    }
    let state = 4711;
    const random = (): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8;
    for (let i = 0; i < 5000; i++) {
      const mutated = whole.slice();
      for (let n = random() % 6; n >= 0; n--) mutated[38 + (random() % (mutated.length - 38))] = random();
      const { retval, data: after } = send(mutated);
      expect({ retval, length: after.length }).toEqual({ retval: NEXT, length: mutated.length });
      expect(after.subarray(38)).toEqual(mutated.subarray(38)); // behind the source address nothing changes
    }
  });
});
