// The SRv6 feature as the agent runs it, in a namespace: END.CON as routes with cnpd's protocol number, what is found
// again after a restart, what is left alone, and packets through what was installed. iproute2 is the judge of the
// routes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { openBpfObject } from '../../../src/kernel/bpf/object.ts';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { addressKey, decodeSid } from '../../../src/kernel/dataplane/srv6.ts';
import { RTPROT_CNPD, SidRoutes } from '../../../src/kernel/netlink/sid-routes.ts';
import { formatAddress } from '../../../src/model/address.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { ManualWork } from '../../../src/model/work.fixture.ts';
import type { DecapsulationSidPlan, Srv6Plan } from '../../../src/plan/srv6-plan.ts';
import { Srv6 } from '../../../src/reconcile/srv6.ts';
import { walkHeaders } from '../../../src/packet/ip/walk.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { attachedPrograms, ip } from '../../support/netns.ts';
import { object } from '../support/congested-router.ts';
import { countOf } from '../support/counters.ts';
import { H1, H2, data } from '../support/packets.ts';
import { CON_A, CON_B, LOOPBACK, ProviderEdge, REMOTE, SID_DT6, TABLE } from '../support/srv6-scene.ts';
import { is, until } from '../../support/until.ts';

let pe: ProviderEdge;
let bpffs: string;
const running: Srv6[] = [];
beforeEach(async () => {
  pe = await ProviderEdge.create();
  bpffs = mkdtempSync(join(tmpdir(), 't-srv6-'));
  mountBpffs(bpffs);
});
afterEach(() => {
  for (const feature of running.splice(0)) feature.close();
  pe.close();
  unmountBpffs(bpffs);
  rmSync(bpffs, { recursive: true });
});

const modules = {
  clock: manualClock(),
  work: new ManualWork(),
  log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  count: () => {},
};

/** The feature as a run of the agent opens it. */
function open(): Srv6 {
  const feature = new Srv6(
    openBpfObject(object('srv6'), { pinDir: bpffs }),
    SidRoutes.open({ netns: pe.netns }),
    modules,
  );
  running.push(feature);
  return feature;
}

const endCon = (sid: typeof CON_A, table: number, installed = false): Srv6Plan['endCon'][number] => ({
  id: formatAddress(sid),
  sid,
  table,
  installed,
});
const endConSid = (sid: typeof CON_A, table: number): DecapsulationSidPlan => ({
  id: formatAddress(sid),
  sid,
  behavior: 'end-con',
  families: [6, 4],
  table,
});
/** A SID of another program. */
const OTHER: DecapsulationSidPlan = {
  id: formatAddress(SID_DT6),
  sid: SID_DT6,
  behavior: 'end.dt6',
  families: [6],
  table: 254,
};
const planned = (over: Partial<Srv6Plan> = {}): Srv6Plan => ({
  endCon: [endCon(CON_A, 254)],
  decapsulation: [endConSid(CON_A, 0)],
  tunnelSources: [],
  defaultSource: CON_A,
  localSources: [LOOPBACK, CON_A].map((address) => ({ id: formatAddress(address), address })),
  corePorts: [{ id: 't-srv6-core', interface: 't-srv6-core', ifindex: pe.ifindex.core }],
  routeIfindex: pe.ifindex.core,
  ecnMode: 'normal',
  dscp: { kind: 'pipe', outerDscp: null },
  sharedIngress: false,
  ...over,
});

interface Shown {
  readonly dst: string;
  readonly protocol: string;
  readonly dev: string;
  readonly encap: string;
  readonly table?: number | string;
}
/** The seg6local routes as iproute2 shows them; with -N, so that protocols and tables are numbers. */
const shown = (): string[] =>
  (JSON.parse(ip(pe.netns, '-N -6 -j route show table all')) as (Shown & { action?: string; [key: string]: unknown })[])
    .filter((r) => r.encap === 'seg6local')
    .map((r) => `${r.dst} ${r.action} proto ${r.protocol}`)
    .sort();

describe('END.CON in the kernel', () => {
  test("FCN-4.2.2-a: is an End.DT6 route with cnpd's own protocol number, by table", () => {
    open().apply({ srv6: planned({ endCon: [endCon(CON_A, 254), endCon(CON_B, TABLE)] }) });
    expect(shown()).toEqual([
      `2001:db8:c0a::1 End.DT6 proto ${RTPROT_CNPD}`,
      `2001:db8:c0b::1 End.DT6 proto ${RTPROT_CNPD}`,
    ]);
    expect(ip(pe.netns, '-N -6 route show 2001:db8:c0a::1')).toContain('table 254');
    expect(ip(pe.netns, '-N -6 route show 2001:db8:c0b::1')).toContain(`table ${TABLE}`);
  });

  test('FCN-4.2.2-a: after a restart what is right is adopted untouched, what is no longer desired is pruned, and no other route is touched', () => {
    pe.seg6local('2001:db8:d6::1', 'End.DT6 table 254');
    ip(pe.netns, '-6 route add 2001:db8:5::/64 dev t-srv6-core proto 111');
    const first = open();
    first.apply({ srv6: planned({ endCon: [endCon(CON_A, 254), endCon(CON_B, TABLE)] }) });
    running.splice(0);
    first.close();
    expect(shown().length).toBe(3);
    const before = ip(pe.netns, '-6 route show 2001:db8:c0a::1');
    const second = open();
    second.apply({ srv6: planned() });
    second.fullPass();
    expect(shown()).toEqual([`2001:db8:c0a::1 End.DT6 proto ${RTPROT_CNPD}`, '2001:db8:d6::1 End.DT6 proto 4']);
    expect(ip(pe.netns, '-6 route show 2001:db8:c0a::1')).toBe(before);
    expect(ip(pe.netns, '-6 route show 2001:db8:5::/64')).toContain('t-srv6-core');
  });

  test('FCN-4.2.2-a: a SID that another program has is refused, reported, and tried again; when it is free it is taken', () => {
    pe.seg6local('2001:db8:c0a::1', 'End.DT6 table 254');
    const feature = open();
    feature.apply({ srv6: planned() });
    expect(feature.refusal('2001:db8:c0a::1')).toMatch(
      /^2001:db8:c0a::1 is already a SID of another program: end.dt6, protocol 4$/,
    );
    expect(feature.status().map((s) => s.state)).toEqual(['failed']);
    ip(pe.netns, '-6 route del 2001:db8:c0a::1');
    modules.clock.advance(1000);
    expect(feature.refusal('2001:db8:c0a::1')).toBeUndefined();
    expect(shown()).toEqual([`2001:db8:c0a::1 End.DT6 proto ${RTPROT_CNPD}`]);
  });

  test("the program knows at which SIDs the kernel has End.DT6 of cnpd's: not at one that another program has, nor at those of others", () => {
    pe.seg6local('2001:db8:c0a::1', 'End.DT6 table 254');
    const feature = open();
    const srv6 = planned({
      endCon: [endCon(CON_A, 254), endCon(CON_B, TABLE)],
      decapsulation: [...[CON_A, CON_B].map((sid) => endConSid(sid, TABLE)), OTHER],
    });
    const own = (): boolean[] =>
      [CON_A, CON_B, SID_DT6].map(
        (sid) => decodeSid(feature.object.map('srv6_sids').lookup(addressKey(sid))!).ownRoute,
      );
    feature.apply({ srv6 });
    expect(own()).toEqual([false, true, false]);
    ip(pe.netns, '-6 route del 2001:db8:c0a::1');
    feature.apply({ srv6 });
    expect(own()).toEqual([true, true, false]);
  });

  test('FCN-4.2.2-a: a route that went with its interface comes back with the next full pass', () => {
    const feature = open();
    feature.apply({ srv6: planned() });
    ip(pe.netns, 'link set t-srv6-core down');
    expect(shown()).toEqual([]);
    ip(pe.netns, 'link set t-srv6-core up');
    feature.fullPass();
    expect(shown().length).toBe(1);
  });

  test('FCN-4.2.2-a: it comes back as soon as the interface is up again, when the facts say that it is gone', () => {
    const feature = open();
    feature.apply({ srv6: planned() });
    for (const installed of [false, true]) {
      feature.apply({ srv6: planned({ endCon: [endCon(CON_A, 254, installed)] }) });
      ip(pe.netns, 'link set t-srv6-core down');
      feature.apply({ srv6: planned() });
      expect(feature.refusal('2001:db8:c0a::1')).toMatch(/ENETDOWN/);
      ip(pe.netns, 'link set t-srv6-core up');
      feature.apply({ srv6: planned() });
      expect(feature.refusal('2001:db8:c0a::1')).toBeUndefined();
      expect(shown().length).toBe(1);
    }
  });

  test.each(['blackhole', 'unreachable', 'prohibit', 'throw'])(
    'FCN-4.2.2-a: below a %s route of the locator, as in frr-configs/srv6-pe.conf, END.CON is installed all the same',
    (type) => {
      ip(pe.netns, `-6 route add ${type} 2001:db8:c0a::/48`);
      const feature = open();
      feature.apply({ srv6: planned() });
      expect(feature.refusal('2001:db8:c0a::1')).toBeUndefined();
      expect(shown()).toEqual([`2001:db8:c0a::1 End.DT6 proto ${RTPROT_CNPD}`]);
      feature.apply({});
      expect(shown()).toEqual([]);
    },
  );

  test("FCNP-5-f: switched off, nothing of cnpd's is left", () => {
    const feature = open();
    feature.apply({ srv6: planned() });
    feature.apply({});
    expect(shown()).toEqual([]);
    for (const map of ['srv6_sids', 'srv6_local_sources', 'srv6_tunnel_sources'])
      expect([...feature.object.map(map).keys()]).toEqual([]);
  });

  test('rtnetlink lists every seg6local route, whoever made it, and nothing else', async () => {
    pe.seg6local('2001:db8:d6::1', 'End.DT6 table 254');
    pe.seg6local('2001:db8:e::1', 'End');
    ip(pe.netns, '-6 route add 2001:db8:d7::1/128 encap seg6local action End.DX6 nh6 2001:db8:1::10 dev t-srv6-core');
    ip(pe.netns, '-6 route add 2001:db8:d8::/64 encap seg6local action End.DT6 table 254 count dev t-srv6-core');
    pe.encapsulate('2001:db8:2::/48', 'srh');
    const found = (await pe.rtnl.seg6LocalRoutes()).map((r) => [
      formatAddress(r.sid),
      r.length,
      r.action,
      r.table,
      r.counted,
    ]);
    expect(found.sort()).toEqual([
      ['2001:db8:d6::1', 128, 'end.dt6', 254, false],
      ['2001:db8:d7::1', 128, 'end.dx6', undefined, false],
      ['2001:db8:d8::', 64, 'end.dt6', 254, true],
      ['2001:db8:e::1', 128, 'end', undefined, false],
    ]);
  });
});

describe('packets through what the agent installed', () => {
  const links: TcxLink[] = [];
  const attach = (feature: Srv6, srv6: Srv6Plan): void => {
    for (const a of feature.attachments({ srv6 })) {
      links.push(
        attachTcx({
          program: feature.object.program(a.program),
          ifindex: a.ifindex,
          direction: a.direction,
          netns: pe.netns,
          first: a.first,
        }),
      );
    }
  };
  afterEach(() => {
    for (const link of links.splice(0)) link.close();
  });

  test('FCN-4.2.2-c: FCN-4.2.2-e: a tunnel leaves with END.CON as its source, and what is sent back to END.CON reaches the sender', async () => {
    const feature = open();
    const srv6 = planned();
    feature.apply({ srv6 });
    attach(feature, srv6);
    pe.encapsulate('2001:db8:2::/48', 'srh');
    pe.arrive('h1', data({ source: H1, destination: H2 }));
    await until(
      'the tunnel',
      () => pe.captured.p,
      (all) => all.some((f) => f[20] === 43),
      30_000,
    );
    const source = walkHeaders(pe.captured.p.find((f) => f[20] === 43)!.subarray(14)).layers[0]!.source;
    expect(formatAddress(source)).toBe('2001:db8:c0a::1');
    const back = data({ source: REMOTE, destination: H1, qpn: 99 });
    pe.arrive('p', ipv6([REMOTE, source], 41, back));
    await until(
      'what was sent back',
      () => pe.captured.h1,
      (all) => all.some((f) => f[20] === 17 && f.length === 14 + back.length),
      30_000,
    );
  });

  test("FCN-4.2.2-e: without the program the kernel's route decapsulates at END.CON as well", async () => {
    open().apply({ srv6: planned() });
    const back = data({ source: REMOTE, destination: H1, qpn: 99 });
    pe.arrive('p', ipv6([REMOTE, CON_A], 41, back));
    await until(
      'what was sent back',
      () => pe.captured.h1,
      (all) => all.some((f) => f[20] === 17 && f.length === 14 + back.length),
      30_000,
    );
  });

  test('FCN-4.2.2-c: the program at egress is in front of the detector, the one at ingress in front of all', () => {
    const others = openBpfObject(object('egress'));
    const learning = openBpfObject(object('proxy'));
    const [detector, proxy] = [others.program('egress'), learning.program('proxy')];
    links.push(attachTcx({ program: detector, ifindex: pe.ifindex.core, direction: 'egress', netns: pe.netns }));
    links.push(attachTcx({ program: proxy, ifindex: pe.ifindex.core, direction: 'ingress', netns: pe.netns }));
    const feature = open();
    attach(feature, planned());
    const [encap, decap] = [feature.object.program('srv6_encap'), feature.object.program('srv6_decap')];
    expect(attachedPrograms(pe.netns, pe.ifindex.core, 'egress')).toEqual([encap.id, detector.id]);
    expect(attachedPrograms(pe.netns, pe.ifindex.core, 'ingress')).toEqual([decap.id, proxy.id]);
    others.close();
    learning.close();
  });

  test('with a proxy on the same ports nothing is sent past its program', async () => {
    const feature = open();
    const srv6 = planned({ decapsulation: [...planned().decapsulation, OTHER], sharedIngress: true });
    pe.seg6local('2001:db8:d6::1', 'End.DT6 table 254');
    feature.apply({ srv6 });
    attach(feature, srv6);
    const packets = [CON_A, SID_DT6].map((sid) => ipv6([REMOTE, sid], 41, data({ source: REMOTE, destination: H1 })));
    for (const packet of packets) pe.arrive('p', packet);
    await until('both arrived', () => pe.captured.h1.filter((f) => f[20] === 17).length, is(2), 30_000);
    const count = (name: string): number => countOf(feature.object, `srv6.decap.${name}`);
    expect({ forwarded: count('forwarded'), handedUp: count('handed-up'), left: count('left') }).toEqual({
      forwarded: 0,
      handedUp: 2,
      left: 0,
    });
  });
});
