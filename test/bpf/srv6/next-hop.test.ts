// The next hop that the tunnel exit remembers, and notifications that come back through END.CON.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { VECTORS, vectorsMet } from '../../../src/bench/support/packets/srv6-vectors.ts';
import { ip } from '../../support/netns.ts';
import { Btf } from '../support/btf.ts';
import { type Data, DROP, context, data } from '../support/packets.ts';
import { CON_A, LOOPBACK, ProviderEdge, REMOTE, SID_DT6, TABLE, trafficClass } from '../support/srv6-scene.ts';
import {
  CE,
  CUSTOMER,
  E0,
  FOREIGN,
  OTHER_CUSTOMER,
  bthQpn,
  deliveredBy,
  exchangeWith,
  expected,
  tunnel,
  withClass,
} from '../support/srv6-tunnels.ts';
import { atLeast, contains, is, moreThan, until } from '../../support/until.ts';

let pe: ProviderEdge;
beforeAll(async () => {
  pe = await ProviderEdge.atExit();
});
afterAll(() => pe.close());
beforeEach(() => {
  pe.clear();
  pe.configure({});
});

const delivered = (to: 'h1' | 'h2'): Uint8Array[] => deliveredBy(pe, to);
const exchange = (packets: readonly Uint8Array[], to?: 'h1' | 'h2', family?: 4 | 6): Promise<Uint8Array[]> =>
  exchangeWith(pe, packets, to, family);

describe('the next hop that is remembered', () => {
  const inside = (d: Data = {}): Uint8Array => data({ ...CUSTOMER[6], ecn: E0, ...d });
  beforeEach(() => pe.sid(SID_DT6, FOREIGN));

  test('is asked for again: a route that changes is followed', async () => {
    const before = tunnel(SID_DT6, E0, inside({ qpn: 85 }), false);
    expect((await exchange([before, before, before])).length).toBe(3);
    ip(pe.netns, '-6 route add 2001:db8:1::10/128 via 2001:db8:3::10 dev t-srv6-c2');
    const send = (): void => pe.arrive('p', tunnel(SID_DT6, E0, inside({ qpn: 86 }), false));
    await until('packets take the new way', () => (send(), delivered('h2').map(bthQpn)), contains(86), 30_000);
    ip(pe.netns, '-6 route del 2001:db8:1::10/128');
    pe.captured.h1.length = 0;
    await until('and the old one again', () => (send(), delivered('h1').map(bthQpn)), contains(86), 30_000);
    expect(pe.count('srv6.decap.left')).toBe(0);
  });

  test('does not let a longer packet than the one it was asked for past the MTU of the way', async () => {
    pe.mtu('t-srv6-c1', 1400);
    ip(pe.netns, '-6 route replace 2001:db8:7::/64 via 2001:db8:9::10');
    const isTooBig = (f: Uint8Array): boolean => f[12] === 0x86 && f[20] === 58 && f[54] === 2;
    pe.captured.p.length = 0;
    for (let i = 0; i < 50; i++)
      for (const size of [100, 2000]) pe.arrive('p', tunnel(SID_DT6, E0, inside({ qpn: 87, size }), false));
    await until('the short ones', () => delivered('h1').filter((p) => bthQpn(p) === 87).length, is(50), 30_000);
    await until(
      'an error about the long ones',
      () => pe.captured.p,
      (all) => all.some(isTooBig),
      30_000,
    );
    expect({ forwarded: pe.count('srv6.decap.forwarded'), left: pe.count('srv6.decap.left') }).toEqual({
      forwarded: 50,
      left: 50,
    });
    pe.mtu('t-srv6-c1', 9000);
  });

  test('is that of its flow and its table: flows and tables whose packets alternate are not confused', async () => {
    pe.sid(CON_A, { table: TABLE });
    // More than there are places: some share one.
    const flows = Array.from({ length: 160 }, (_, i) => ({
      source: address(`2001:db8:7::${(i + 1).toString(16)}`),
      qpn: 1000 + i,
    }));
    const packets = flows.flatMap(({ source, qpn }) => [
      tunnel(SID_DT6, E0, inside({ source, qpn }), false),
      tunnel(CON_A, E0, data({ ...OTHER_CUSTOMER[6], source, qpn: qpn + 1000 }), false),
    ]);
    for (const packet of [...packets, ...packets, ...packets]) pe.arrive('p', packet);
    const arrived = (to: 'h1' | 'h2'): number => delivered(to).length;
    await until(
      'all arrived',
      () => [arrived('h1'), arrived('h2')] as const,
      ([a, b]) => a >= 480 && b >= 480,
      30_000,
    );
    const got = (to: 'h1' | 'h2'): number[] =>
      delivered(to)
        .map(bthQpn)
        .filter((qpn) => qpn >= 1000 && qpn < 3000);
    expect({ h1: got('h1').length, h2: got('h2').length, forwarded: pe.count('srv6.decap.forwarded') }).toEqual({
      h1: 480,
      h2: 480,
      forwarded: 960,
    });
    expect(Math.max(...got('h1'))).toBeLessThan(2000);
    expect(Math.min(...got('h2'))).toBeGreaterThanOrEqual(2000);
  });
});

describe('a flow is remembered from its second packet on', () => {
  interface Remembered {
    readonly source: number;
    readonly table: number;
    readonly askedAt: bigint;
    readonly ifindex: number;
  }
  /** struct next_hop (bpf/lib/srv6/next-hop.h). */
  const fields = new Btf('dist/bpf/srv6.bpf.o').maps().get('srv6_next_hops')!.value!.fields();
  const at = (name: string): number => fields.find(({ field }) => field === name)!.offset;
  const decode = (value: Uint8Array): Remembered => {
    const view = new DataView(value.buffer, value.byteOffset);
    return {
      source: view.getUint16(at('key.source') + 14), // the end of the address
      table: view.getUint32(at('key.table'), true),
      askedAt: view.getBigUint64(at('asked_at'), true),
      ifindex: view.getUint32(at('ifindex'), true),
    };
  };
  const remembered = (): Remembered[] => {
    const map = pe.srv6.map('srv6_next_hops');
    return [...map.keys()]
      .flatMap((key) => map.lookupPerCpu(key)!)
      .map(decode)
      .filter(({ askedAt }) => askedAt > 0n);
  };
  const of = (flow: number): Remembered | undefined => remembered().find(({ source }) => source === flow);

  const inside = (flow: number, d: Data = {}): Uint8Array =>
    data({ ...CUSTOMER[6], ecn: E0, source: address(`2001:db8:7::${flow.toString(16)}`), ...d });
  const run = (packet: Uint8Array): { retval: number; data: Uint8Array } =>
    pe.srv6
      .program('srv6_decap')
      .testRun({ data: pe.coreFrame(packet), ctx: context({ ifindex: pe.ifindex.core }), netns: pe.netns });
  const REDIRECT = 7;
  const forwards = (flow: number, sent = inside(flow), sid = SID_DT6): void => {
    const { retval, data: left } = run(tunnel(sid, E0, sent, false));
    expect({ retval, packet: left.subarray(14) }).toEqual({ retval: REDIRECT, packet: expected(sent, E0) });
  };
  /** As often as it takes: a place belongs to a CPU, and this process may move. */
  const sendUntil = <State>(
    what: string,
    send: () => void,
    look: () => State,
    enough: (seen: State) => boolean,
  ): Promise<boolean> => until(what, () => (send(), look()), enough, 30_000);

  // Of no other test.
  let next = 0x4000;
  beforeEach(() => {
    for (const name of ['srv6_next_hops', 'srv6_next_hop_places']) {
      const map = pe.srv6.map(name);
      for (const key of [...map.keys()]) map.update(key, new Uint8Array(map.valueBytes));
    }
    pe.sid(SID_DT6, FOREIGN);
    pe.sid(CON_A, { table: TABLE });
  });

  test('the first packet is looked up and sent on, and leaves nothing behind', () => {
    const flow = next++;
    forwards(flow);
    expect(remembered()).toEqual([]);
    expect(pe.count('srv6.decap.forwarded')).toBe(1);
  });

  test.each(['main', 'another'] as const)(
    'the second one is sent on alike, and its next hop remembered: %s table',
    async (table) => {
      const flow = next++,
        inMain = table === 'main';
      const sent = inMain ? inside(flow) : inside(flow, { destination: OTHER_CUSTOMER[6].destination });
      await sendUntil(
        'remembered',
        () => forwards(flow, sent, inMain ? SID_DT6 : CON_A),
        () => remembered().length,
        moreThan(0),
      );
      expect(of(flow)).toMatchObject({ table: inMain ? 254 : TABLE, ifindex: inMain ? pe.ifindex.c1 : pe.ifindex.c2 });
      forwards(flow, sent, inMain ? SID_DT6 : CON_A);
    },
  );

  test('after its time it is asked for again at once', async () => {
    const flow = next++;
    await sendUntil(
      'remembered',
      () => forwards(flow),
      () => of(flow),
      (found) => found !== undefined,
    );
    const { askedAt } = of(flow)!;
    await sendUntil(
      'asked again',
      () => forwards(flow),
      remembered,
      (all) => all.some((found) => found.source === flow && found.askedAt >= askedAt + 10_000_000n),
    );
  });

  test('flows that take turns, more than there are places: each is sent on, and the places are taken', async () => {
    const flows = Array.from({ length: 300 }, () => next++);
    const packets = flows.map((flow) => ({ flow, sent: inside(flow) }));
    await sendUntil(
      'most places taken',
      () => packets.forEach(({ flow, sent }) => forwards(flow, sent)),
      () => remembered().length,
      atLeast(128),
    );
    expect(
      remembered().filter(
        ({ source, ifindex, table }) => !flows.includes(source) || ifindex !== pe.ifindex.c1 || table !== 254,
      ),
    ).toEqual([]);
    expect(pe.count('srv6.decap.forwarded') % flows.length).toBe(0);
  });

  test('a flow whose packets cannot be sent on is not remembered', () => {
    const flow = next++;
    for (let i = 0; i < 10; i++)
      expect(
        run(tunnel(SID_DT6, E0, inside(flow, { destination: address('2001:db8:dead::1') }), false)).retval,
      ).not.toBe(REDIRECT);
    expect(remembered()).toEqual([]);
    expect(pe.count('srv6.decap.left')).toBe(10);
  });

  test('RFC 6040: a first packet and one whose next hop is remembered leave with the same congestion field, all sixteen', async () => {
    const known = next++;
    await sendUntil(
      'remembered',
      () => forwards(known),
      () => of(known),
      (found) => found !== undefined,
    );
    for (const flow of [(): number => next++, (): number => known]) {
      const met = vectorsMet((inner, outer) => {
        const { retval, data: left } = run(tunnel(SID_DT6, outer, inside(flow(), { ecn: inner }), false));
        return retval === DROP ? null : trafficClass(left.subarray(14)) & 3;
      });
      expect(met).toBe(VECTORS);
    }
  });
});

describe('A17', () => {
  test.each(['main', 'another'] as const)(
    'A17: FCN-4.2.2-e: a Fast CNP to END.CON reaches its sender unchanged but for the hop, %s table',
    async (table) => {
      const { customer, to } =
        table === 'main' ? { customer: CUSTOMER, to: 'h1' as const } : { customer: OTHER_CUSTOMER, to: 'h2' as const };
      pe.sid(CON_A, { table: table === 'main' ? 0 : TABLE });
      const cnp = fastCnp(customer[6].destination);
      for (const sharedIngress of table === 'main' ? [false, true] : [false]) {
        pe.configure({ sharedIngress });
        pe.captured[to].length = 0;
        pe.arrive('p', withClass(ipv6([REMOTE, CON_A], 41, cnp), 48 << 2));
        await until(
          'the Fast CNP',
          () => pe.captured[to],
          (all) => all.some((f) => f[20] === 60),
          30_000,
        );
        const arrived = pe.captured[to]
          .find((f) => f[20] === 60)!
          .subarray(14, 14 + cnp.length)
          .slice();
        expect({ hopLimit: arrived[7] }).toEqual({ hopLimit: cnp[7]! - 1 });
        arrived[7]!++;
        expect(arrived).toEqual(cnp);
      }
    },
  );
});

// Last: a namespace that once had a policy rule is taken to have some for ever.
describe('policy rules', () => {
  test("with others on the hook, another program's End.DT6 is the kernel's where a policy rule could lead elsewhere", async () => {
    pe.sid(SID_DT6, FOREIGN);
    pe.configure({ sharedIngress: true });
    ip(pe.netns, `-6 rule add from 2001:db8:7::/64 table ${TABLE}`);
    pe.arrive('p', tunnel(SID_DT6, CE, data({ ...CUSTOMER[6], ecn: E0, qpn: 89 }), false));
    await until(
      'by the main table all the same',
      () => delivered('h1'),
      (all) => all.some((p) => bthQpn(p) === 89 && (trafficClass(p) & 3) === CE),
      30_000,
    );
    expect({ left: pe.count('srv6.decap.left'), handedUp: pe.count('srv6.decap.handed-up') }).toEqual({
      left: 1,
      handedUp: 0,
    });
  });
});

/**
 * From another router's loopback: Destination Options with option 1, UDP, BTH 0x81. What the bytes say does not matter
 * here.
 */
const fastCnp = (to: IpAddress): Uint8Array =>
  withClass(
    ipv6(
      [LOOPBACK, to],
      60,
      concat(
        Uint8Array.of(17, 2, 0x9e, 16),
        Uint8Array.from({ length: 16 }, (_, i) => i),
        Uint8Array.of(1, 2, 0, 0),
        Uint8Array.of(0xc0, 1, 0x12, 0xb7, 0, 40, 0, 0),
        Uint8Array.of(0x81, 0, 0xff, 0xff, 0x40, 0x12, 0x34, 0x56, 0, 0, 0, 0),
        new Uint8Array(20),
      ),
    ),
    48 << 2,
  );
