// A proxy beside END.CON: the exit of tunnels has taken the outer header off before the proxy's program sees the
// packet, so it says whose that was (bpf/lib/wire/tunnel-ended.h). What any host may wrap is believed no more than in
// the tunnel.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { mappedAddress } from '../../../src/kernel/dataplane/layout.ts';
import { encodePortRole, portRoleKey } from '../../../src/kernel/dataplane/port-roles.ts';
import { PROXY_MAPS, PROXY_PROGRAM } from '../../../src/kernel/dataplane/proxy.ts';
import { TENANT_MAPS, encodeTenant } from '../../../src/kernel/dataplane/tenants.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { ip } from '../../support/netns.ts';
import type { Compiled } from '../support/compile.ts';
import { cmDisconnect } from '../support/cm-messages.ts';
import {
  CHECKED,
  ProxyUnderTest,
  acknowledge,
  cnpsAmong,
  compileProxy,
  data,
  notice,
} from '../support/proxy-under-test.ts';
import { CON_A, LOOPBACK, ProviderEdge } from '../support/srv6-scene.ts';
import { is, moreThan, until } from '../../support/until.ts';

const ROUTER = address('2001:db8:ffff::2');
const PEER_SID = address('2001:db8:c0c::1');
const HOST = address('2001:db8:66::66');
const A = address('2001:db8:1::10');
const B = address('2001:db8:7::7');
const CONNECTION = { sender: A, receiver: B, receiverQpn: 0xc8 };
const QUIET = address('2001:db8:7::8');

let pe: ProviderEdge;
let compiled: Compiled;
let proxy: ProxyUnderTest;
let links: TcxLink[] = [];

beforeAll(async () => {
  pe = await ProviderEdge.atExit();
  compiled = compileProxy();
  for (const to of ['2001:db8:ffff::2/128', '2001:db8:7::/64', '2001:db8:66::/64', '2001:db8:c0c::1/128'])
    ip(pe.netns, `-6 route add ${to} via 2001:db8:9::10 dev t-srv6-core`);
});
afterAll(() => {
  pe.close();
  compiled.remove();
});
beforeEach(() => {
  pe.clear();
  pe.sid(CON_A);
  pe.configure({ sharedIngress: true });
  proxy = new ProxyUnderTest(compiled.path, { learning: CHECKED }).configure(
    { address: LOOPBACK },
    ['2001:db8:1::/64'],
    ['2001:db8:ffff::2/128'],
  );
  const core = { ifindex: pe.ifindex.core, link: pe.ifindex.core, isCore: true, share: 1 };
  proxy.object.map(PROXY_MAPS.portRoles).update(portRoleKey(core), encodePortRole(core));
  proxy.object.map(TENANT_MAPS.sids).update(mappedAddress(PEER_SID), encodeTenant(0));
  links = [pe.ifindex.core, pe.ifindex.c1].map((ifindex) =>
    attachTcx({ program: proxy.object.program(PROXY_PROGRAM), ifindex, direction: 'ingress', netns: pe.netns }),
  );
  return () => {
    for (const link of links) link.detach();
    proxy.close();
  };
});

const counted = (name: string): number => Number(proxy.counters().get(name));
const inEndCon = (from: IpAddress, inner: Uint8Array): Uint8Array => ipv6([from, CON_A], 41, inner);
const atHost = (): number[] => cnpsAmong(pe.captured.h1.map((f) => f.subarray(14))).map(({ bth }) => bth.destQpn);
/** Waits until the program has seen everything that was sent. */
async function settled(): Promise<void> {
  const before = counted('proxy.notice.sender-unknown');
  pe.arrive('p', notice(data({ from: B, to: A, qpn: 1, psn: 0 }), { source: ROUTER, destination: LOOPBACK }));
  await until(
    'all is seen',
    () => counted('proxy.notice.sender-unknown') + counted('proxy.notice.not-data'),
    moreThan(before),
  );
}
const aboutA = (): Uint8Array =>
  notice(data({ from: A, to: B, qpn: 0xc8, psn: 6 }), { source: ROUTER, destination: LOOPBACK });
const disconnect = cmDisconnect(B, A, 0x64);
/** Requests of A's, whose answers `back` brings. */
async function exchange(to: IpAddress, aQpn: number, back: (inner: Uint8Array) => Uint8Array): Promise<void> {
  for (let psn = 1; psn < 7; psn++) {
    const seen = pe.captured.p.length;
    pe.arrive('h1', data({ from: A, to, qpn: 0xc8, psn }));
    await until('the request is sent on', () => pe.captured.p.length, moreThan(seen));
    pe.arrive('p', back(acknowledge({ from: to, to: A, qpn: aQpn, psn })));
    await settled();
  }
}

describe.each([
  ['from a host’s own address', (inner: Uint8Array) => inEndCon(HOST, inner)],
  [
    'from a router that wraps what a host has wrapped',
    (inner: Uint8Array) => inEndCon(PEER_SID, ipv6([HOST, address('2001:db8:7::9')], 41, inner)),
  ],
])('what comes out of END.CON %s', (_, wrapped) => {
  const fromHost = wrapped(aboutA())[23] === 0x66;

  test('PNC-6-b: is no router’s notice, ends no connection and teaches none', async () => {
    await exchange(B, 0x64, (inner) => inner);
    expect(proxy.known(CONNECTION)?.senderQpn).toBe(0x64);
    for (let i = 0; i < 3; i++) pe.arrive('p', wrapped(aboutA()));
    pe.arrive('p', wrapped(disconnect));
    await settled();
    expect(proxy.known(CONNECTION)?.senderQpn).toBe(0x64);
    await exchange(QUIET, 0x666, wrapped);
    expect(proxy.known({ ...CONNECTION, receiver: QUIET })).toBeUndefined();
    expect(atHost()).toEqual([]);
    if (fromHost) expect(counted('proxy.notice.not-allowed')).toBe(3);
    expect(counted('proxy.qp.tunnel-unknown')).toBeGreaterThanOrEqual(7);
    // And it does believe the router.
    pe.arrive('p', aboutA());
    await until('the CNP is at the host', () => atHost().length, is(1));
    expect(atHost()).toEqual([0x64]);
  });
});

test('FCN-4.2.2-d: a CNP that a router sends which is not listed through END.CON still reaches the host', async () => {
  const cnp = data({ from: B, to: A, qpn: 0x64, psn: 0, opcode: 0x81, ackRequest: false, size: 16 });
  pe.arrive('p', inEndCon(HOST, cnp));
  await until('the CNP is at the host', () => atHost().length, is(1));
  expect(pe.count('srv6.decap.handed-up')).toBe(1);
});

test.each([
  ['an END.CON SID of the domain', PEER_SID],
  ['a router in accept-from', ROUTER],
])('PNC-1-c: from %s, what comes out of END.CON teaches, ends and notifies', async (_, from) => {
  await exchange(B, 0x64, (inner) => inEndCon(from, inner));
  expect(proxy.known(CONNECTION)?.senderQpn).toBe(0x64);
  pe.arrive('p', inEndCon(from, aboutA()));
  await until('the CNP is at the host', () => atHost().length, is(1));
  pe.arrive('p', inEndCon(from, disconnect));
  await until('the connection is gone', () => proxy.known(CONNECTION), is(undefined));
});

test('PNC-6-b: a tunnel from a router’s address by a port to which the route back does not lead', async () => {
  ip(pe.netns, '-6 route replace 2001:db8:ffff::2/128 via 2001:db8:3::10 dev t-srv6-c2');
  try {
    pe.arrive('p', inEndCon(ROUTER, aboutA()));
    await until('it is refused', () => counted('proxy.notice.wrong-port'), is(1));
  } finally {
    ip(pe.netns, '-6 route replace 2001:db8:ffff::2/128 via 2001:db8:9::10 dev t-srv6-core');
  }
  expect(atHost()).toEqual([]);
});
