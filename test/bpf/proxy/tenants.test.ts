// E1: two VPNs with the same inner addresses and Queue Pair numbers, behind END.CON SIDs of their own (FCN §4.2.2;
// decision D3): each sender is notified in its own right, a Queue Pair of one is never named to the other, and where it
// is not known whose a packet is, nothing is guessed.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_LEARNING_LIMITS } from '../../../src/kernel/dataplane/proxy.ts';
import { mappedAddress } from '../../../src/kernel/dataplane/layout.ts';
import { tunnelKey } from '../../../src/kernel/dataplane/srv6.ts';
import {
  TENANT_CONFIG_KEY,
  TENANT_MAPS,
  encodeTenant,
  encodeTenantConfig,
} from '../../../src/kernel/dataplane/tenants.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { ipv6, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { decapsulate } from '../../../src/packet/srv6/encapsulation.ts';
import { TENANT_UNKNOWN, tenantOfSid } from '../../../src/plan/tenants.ts';
import { inNetns, ip } from '../../support/netns.ts';
import { cmReply, cmRequest } from '../support/cm-messages.ts';
import { CongestedRouter, PROXY6 } from '../support/congested-router.ts';
import { configureFormats } from '../support/notifier-plan.ts';
import { notices } from '../support/received-notices.ts';
import { H1, H2, QPN, data, frame } from '../support/packets.ts';
import {
  A,
  A4,
  B,
  B4,
  ProxyUnderTest,
  acknowledge,
  compileProxy,
  context,
  data as asked,
  notice,
  testPort,
} from '../support/proxy-under-test.ts';
import { is, until } from '../../support/until.ts';

/** END.CON SIDs of the sender's and the receiver's provider edge, of two VPNs. */
const RED = address('2001:db8:c::1');
const BLUE = address('2001:db8:c::2');
const RED_FAR = address('2001:db8:d::1');
const BLUE_FAR = address('2001:db8:d::2');
const STRANGER = address('2001:db8:c::99');
const [red, blue, redFar, blueFar] = [RED, BLUE, RED_FAR, BLUE_FAR].map(tenantOfSid) as [
  number,
  number,
  number,
  number,
];
const through = (from: IpAddress, packet: Uint8Array, to = address('2001:db8:e::1')): Uint8Array =>
  ipv6([from, to], 43, srh(41, 0, [to], packet));
const FOREVER = 3_600_000_000_000;
const TC_REDIRECT = 7;

describe('E1: the congested node', () => {
  let r: CongestedRouter;
  beforeAll(async () => {
    r = await CongestedRouter.create();
    await r.fill(150_000);
    configureFormats(r.egress);
    r.endCon([RED, red], [BLUE, blue]);
    r.senders(['::/0', PROXY6]);
  });
  afterAll(() => r.close());
  beforeEach(() => {
    r.port({ kMax: 100_000, perFlowIntervalNs: FOREVER });
    r.clear();
  });
  const notified = () => r.records().map(({ endCon, sourceQpn }) => [endCon?.value, sourceQpn]);

  test('the second tenant’s sender is notified in its own right, each through its own END.CON', () => {
    r.policies(['::/0', ['fast-cnp']]);
    for (const sid of [RED, BLUE, RED, BLUE]) r.send(frame(through(sid, data())));
    r.send(frame(data()));
    expect(notified()).toEqual([
      [RED.value, 0],
      [BLUE.value, 0],
      [undefined, 0],
    ]);
    expect(
      r
        .flows()
        .map(({ tunnel }) => tunnel?.value)
        .sort(),
    ).toEqual([RED.value, BLUE.value, undefined]);
    expect(r.stats().suppressedPerFlow).toBe(2n);
  });

  test('PNC-4-g: to the proxy goes a notice for each, with the tunnel in it', async () => {
    r.policies(['::/0', ['proxy']]);
    for (const sid of [RED, BLUE]) r.send(frame(through(sid, data())));
    await until('two notices', () => notices(r.collected).length, is(2), 30_000);
    expect(
      notices(r.collected)
        .map(({ notice: n }) => n.invoking.subarray(8, 24))
        .map((bytes) => Buffer.from(bytes).toString('hex'))
        .sort(),
    ).toEqual([RED, BLUE].map((sid) => Buffer.from(mappedAddress(sid)).toString('hex')).sort());
  });

  test('LHCNP-5.5-c: a Long-haul CNP names the Queue Pair of its own tenant, or is not sent', () => {
    r.policies(['::/0', ['long-haul-roce']]);
    const flow = { sender: H1, receiver: H2, receiverQpn: QPN };
    r.queuePairs([{ ...flow, tenant: red }, 0x11], [{ ...flow, tenant: blue }, 0x22]);
    for (const sid of [RED, BLUE]) r.send(frame(through(sid, data())));
    r.send(frame(data()));
    expect(notified()).toEqual([
      [RED.value, 0x11],
      [BLUE.value, 0x22],
    ]);
    expect(r.count('egress.format.qp-unknown')).toBe(1);
    r.queuePairs([{ ...flow, tenant: red }, 0x11], [flow, 0x33]);
    r.clear();
    for (const sid of [RED, BLUE]) r.send(frame(through(sid, data())));
    expect(notified()).toEqual([[RED.value, 0x11]]);
  });

  test('two SIDs with one number: neither is taken for the other', () => {
    r.policies(['::/0', ['long-haul-roce']]);
    r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN, tenant: TENANT_UNKNOWN }, 0x11]);
    r.endCon([RED, TENANT_UNKNOWN], [BLUE, blue]);
    r.send(frame(through(RED, data())));
    expect(notified()).toEqual([]);
    expect(r.count('egress.format.tenant')).toBe(1);
    r.endCon([RED, red], [BLUE, blue]);
  });

  test('at a tenant’s own port no sender is notified: the way back is in the tenant’s table, and the proxy could not see whose the packet is', () => {
    r.policies(['::/0', ['proxy', 'fast-cnp', 'long-haul-roce']]);
    r.port({ kMax: 100_000, tenant: 7 });
    r.send(frame(data()));
    expect(notified()).toEqual([]);
    expect(r.count('egress.format.tenant')).toBe(3);
  });
});

describe('E1: the proxy', () => {
  const compiled = compileProxy();
  let p: ProxyUnderTest;
  afterAll(() => compiled.remove());
  beforeEach(() => {
    p = ProxyUnderTest.reused(compiled.path).configure();
    return () => p.close();
  });
  const sids = (...rows: readonly (readonly [IpAddress, number])[]): void => {
    for (const [sid, tenant] of rows) p.object.map(TENANT_MAPS.sids).update(mappedAddress(sid), encodeTenant(tenant));
    p.object.map(TENANT_MAPS.config).update(TENANT_CONFIG_KEY, encodeTenantConfig({ known: true, hasRows: false }));
  };
  const flow = { sender: A, receiver: B, receiverQpn: 0xc8 };
  const packet = asked({ from: A, to: B, qpn: 0xc8, psn: 7 });
  /** Where hosts of tables 100 and 200 are, and none of the main table's. */
  let provider: Netns;
  beforeAll(() => {
    provider = Netns.create();
    inNetns(provider, 'sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1', 'net.ipv4.conf.all.forwarding=1');
    ip(provider, 'link set lo up');
    for (const [table, name] of [
      [100, 't-red'],
      [200, 't-blue'],
    ] as const) {
      ip(provider, `link add ${name} type veth peer name ${name}-p`);
      for (const each of [name, `${name}-p`]) ip(provider, `link set ${each} up`);
      ip(provider, `-6 route add default dev ${name} table ${table}`);
      ip(provider, `route add default dev ${name} table ${table}`);
    }
  });
  afterAll(() => provider.close());
  /**
   * The Queue Pair that is named, of a CNP that is routed; with the table's number, of one that is sent by it; with
   * END.CON, of one in a tunnel there. Else what is counted.
   */
  const cnpFor = (invoking: Uint8Array): unknown => {
    const { packet: sent, counted, verdict } = p.send(notice(invoking), { netns: provider });
    const wrapped = decapsulate(sent);
    const parsed = parseRocePacket(wrapped.ok ? wrapped.value.inner : sent);
    if (counted['proxy.cnp.sent'] !== 1 || !parsed.ok)
      return Object.keys(counted).filter((name) => name !== 'proxy.notice.received');
    expect(parsed.value).toMatchObject({
      icrcValid: true,
      destination: parsed.value.family === 6 ? A : A4,
      bth: { opcode: OPCODE.cnp },
    });
    if (wrapped.ok) return [parsed.value.bth.destQpn, wrapped.value.outer.destination];
    return verdict === TC_REDIRECT ? [parsed.value.bth.destQpn, 'by a table'] : parsed.value.bth.destQpn;
  };

  test('PNC-4-d, D3: the outer header of a notice determines whose tenant’s Queue Pair is meant', () => {
    sids([RED, 100], [BLUE, 200]);
    p.teach({ ...flow, tenant: 100, senderQpn: 0x11 })
      .teach({ ...flow, tenant: 200, senderQpn: 0x22 })
      .teach({ ...flow, senderQpn: 0x33 });
    expect({
      red: cnpFor(through(RED, packet)),
      blue: cnpFor(through(BLUE, packet)),
      untunneled: cnpFor(packet),
    }).toEqual({ red: [0x11, 'by a table'], blue: [0x22, 'by a table'], untunneled: 0x33 });
  });

  test('PNC-6-a: a CNP for a tenant’s sender never goes by the main table, where its address may be another’s: by the tenant’s table, or through its END.CON', () => {
    sids([RED, 300], [BLUE, blue]);
    p.teach({ ...flow, tenant: 300, senderQpn: 0x11 }).teach({ ...flow, tenant: blue, senderQpn: 0x22 });
    expect(cnpFor(through(BLUE, packet))).toEqual([0x22, BLUE]);
    expect(cnpFor(through(RED, packet))).toEqual(['proxy.notice.tenant-unreachable']);
    const flow4 = { sender: A4, receiver: B4, receiverQpn: 0xc8 };
    const packet4 = asked({ from: A4, to: B4, qpn: 0xc8, psn: 7 });
    const through4 = (sid: IpAddress): Uint8Array => ipv6([sid, address('2001:db8:e::1')], 4, packet4);
    sids([RED, 100]);
    p.teach({ ...flow4, tenant: 100, senderQpn: 0x41 })
      .teach({ ...flow4, tenant: blue, senderQpn: 0x42 })
      .teach({ ...flow4, senderQpn: 0x43 });
    expect({
      red: cnpFor(through4(RED)),
      blue: cnpFor(through4(BLUE)),
      untunneled: cnpFor(packet4),
    }).toEqual({ red: [0x41, 'by a table'], blue: [0x42, BLUE], untunneled: 0x43 });
  });

  test('PNC-4-d: a notice about a packet outside tunnels is of the port that it comes by; where only rows for any interface speak of that, nothing is guessed', () => {
    sids([RED, 100]);
    p.configure({ learning: { ...DEFAULT_LEARNING_LIMITS, reversePathCheck: false } });
    p.teach({ ...flow, tenant: 100, senderQpn: 0x11 }).teach({ ...flow, senderQpn: 0x33 });
    const rows = (...at: readonly (readonly [number, number])[]): void => {
      for (const [key] of [...p.object.map(TENANT_MAPS.ports).entries()]) p.object.map(TENANT_MAPS.ports).delete(key);
      for (const [ifindex, tenant] of at)
        p.object.map(TENANT_MAPS.ports).update(tunnelKey(ifindex, prefix('::/0')), encodeTenant(tenant));
      p.object.map(TENANT_MAPS.config).update(TENANT_CONFIG_KEY, encodeTenantConfig({ known: true, hasRows: true }));
    };
    const port = provider.run(() => interfaceIndex('t-red'));
    const from = (): unknown => {
      const { packet: sent, counted } = p.send(notice(packet), { netns: provider, ctx: context({ ifindex: port }) });
      const parsed = parseRocePacket(sent);
      return counted['proxy.cnp.sent'] === 1 && parsed.ok
        ? parsed.value.bth.destQpn
        : Object.keys(counted).filter((name) => name !== 'proxy.notice.received');
    };
    rows([100_000, 100]);
    expect(from()).toBe(0x33);
    rows([port, 100]);
    expect(from()).toBe(0x11);
    rows([0, 100]);
    expect(from()).toEqual(['proxy.notice.tenant-unknown']);
    rows([0, 100], [port, 0]);
    expect(from()).toBe(0x33);
    // Its own notices are about ports of its main table.
    rows([0, 100]);
    expect(cnpFor(packet)).toBe(0x33);
  });

  test('a tunnel from an address that is no SID of a known tenant: nothing is guessed', () => {
    p.teach({ ...flow, senderQpn: 0x33 });
    expect(cnpFor(through(STRANGER, packet))).toBe(0x33); // one address space
    sids([RED, 100]);
    expect(cnpFor(through(STRANGER, packet))).toEqual(['proxy.notice.tenant-unknown']);
    expect(cnpFor(through(RED, packet))).toEqual(['proxy.notice.qp-unknown']);
  });

  const learn = (from: IpAddress, back: IpAddress, a: number): void => {
    for (let psn = 1; psn < 8; psn++) {
      p.send(through(from, asked({ from: A, to: B, qpn: 0xc8, psn: a * 1000 + psn })));
      p.send(through(back, acknowledge({ from: B, to: A, qpn: a, psn: a * 1000 + psn })));
    }
  };

  test('PNC-1-c: connections that pass by in tunnels are learned of each tenant, from traffic', () => {
    sids([RED, red], [BLUE, blue], [RED_FAR, redFar], [BLUE_FAR, blueFar]);
    learn(RED, RED_FAR, 0x11);
    learn(BLUE, BLUE_FAR, 0x22);
    expect(p.known({ ...flow, tenant: red })).toMatchObject({ senderQpn: 0x11, peerTenant: redFar });
    expect(p.known({ ...flow, tenant: blue })).toMatchObject({ senderQpn: 0x22, peerTenant: blueFar });
    expect(p.known(flow)).toBeUndefined();
    expect({ red: cnpFor(through(RED, packet)), blue: cnpFor(through(BLUE, packet)) }).toEqual({
      red: [0x11, RED],
      blue: [0x22, BLUE],
    });
  });

  test('PNC-1-c: two tenants in lockstep, down to the PSN, are ambiguous and never guessed', () => {
    sids([RED, red], [BLUE, blue], [RED_FAR, redFar], [BLUE_FAR, blueFar]);
    for (let psn = 1; psn < 10; psn++) {
      for (const sid of [RED, BLUE]) p.send(through(sid, asked({ from: A, to: B, qpn: 0xc8, psn })));
      for (const [sid, qpn] of [
        [RED_FAR, 0x11],
        [BLUE_FAR, 0x22],
      ] as const)
        p.send(through(sid, acknowledge({ from: B, to: A, qpn, psn })));
    }
    expect(p.connections()).toEqual([]);
  });

  const request = (localCommId: number, localQpn: number) => cmRequest(A, B, { localCommId, localQpn });
  const reply = (remoteCommId: number, localCommId: number, localQpn: number) =>
    cmReply(B, A, { localCommId, remoteCommId, localQpn });

  test('PNC-1-c: from CM likewise; two REQs of two tenants with one communication ID teach nothing', () => {
    sids([RED, red], [BLUE, blue], [RED_FAR, redFar], [BLUE_FAR, blueFar]);
    p.send(through(RED, request(1, 0x11)));
    p.send(through(RED_FAR, reply(1, 11, 0xc8)));
    p.send(through(BLUE, request(2, 0x22)));
    p.send(through(BLUE_FAR, reply(2, 12, 0xc8)));
    expect([red, blue].map((tenant) => p.known({ ...flow, tenant })?.senderQpn)).toEqual([0x11, 0x22]);
    p.send(through(RED, request(3, 0x31)));
    p.send(through(BLUE, request(3, 0x32)));
    expect(p.send(through(BLUE_FAR, reply(3, 13, 0xd0))).counted).toMatchObject({ 'proxy.cm.unmatched': 1 });
  });

  test('a tunnel of which nothing is known teaches nothing', () => {
    sids([RED, red], [RED_FAR, redFar]);
    learn(STRANGER, STRANGER, 0x11);
    learn(RED, STRANGER, 0x12);
    expect(p.connections()).toEqual([]);
    expect(p.send(through(STRANGER, packet)).counted).toEqual({ 'proxy.qp.tenant-unknown': 1 });
  });

  test('at a provider edge both directions are of the table: what its port receives, and what comes in a tunnel to its SID', () => {
    const SID = address('2001:db8:c::7');
    sids([SID, 100], [RED_FAR, redFar], [BLUE_FAR, blueFar]);
    // What a test run arrives by.
    const row = tunnelKey(testPort().ifindex, prefix('::/0'));
    p.object.map(TENANT_MAPS.ports).update(row, encodeTenant(100));
    p.object.map(TENANT_MAPS.config).update(TENANT_CONFIG_KEY, encodeTenantConfig({ known: true, hasRows: true }));
    const connect = (to: IpAddress, qpn: number): void => {
      for (let psn = 1; psn < 8; psn++) {
        p.send(asked({ from: A, to: B, qpn: 0xc8, psn: qpn * 1000 + psn }));
        p.send(through(RED_FAR, acknowledge({ from: B, to: A, qpn, psn: qpn * 1000 + psn }), to));
      }
    };
    connect(SID, 0x11);
    expect(p.known({ ...flow, tenant: 100 })).toMatchObject({ senderQpn: 0x11, peerTenant: 100 });
    expect(cnpFor(through(SID, packet))).toEqual([0x11, 'by a table']);
    expect(cnpFor(packet)).toEqual(['proxy.notice.qp-unknown']);
    // The main table's host of the same address, behind a port that is no tenant's.
    const MAIN = address('2001:db8:c::8');
    sids([MAIN, 0]);
    p.object.map(TENANT_MAPS.ports).delete(row);
    connect(MAIN, 0x22);
    expect(p.known(flow)).toMatchObject({ senderQpn: 0x22 });
    expect({
      untunneled: cnpFor(packet),
      main: cnpFor(through(MAIN, packet)),
      sid: cnpFor(through(SID, packet)),
    }).toEqual({ untunneled: 0x22, main: 0x22, sid: [0x11, 'by a table'] });
  });
});
