// What a border port of a domain with End.MT groups lets in: the addresses that the plan guards, in the real program.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadIntent } from '../../../src/intent/load.ts';
import { GUARDED_VALUE, GUARD_MAPS, guardedKey } from '../../../src/kernel/dataplane/guard.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { receiver, source } from '../../../src/model/group.fixture.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { encodeTreeSrh } from '../../../src/packet/srv6/tree-srh.ts';
import { planGuarded } from '../../../src/plan/guard.ts';
import { ALL_KINDS, GuardUnderTest, NODE } from '../support/guard-under-test.ts';
import { DROP, H1, NEXT, data, frame } from '../support/packets.ts';

const [EDGE, REPLICATION, PROXY] = ['2001:db8:e::1', '2001:db8:f::1', '2001:db8:aa::1'].map((text) =>
  address(text),
) as [IpAddress, IpAddress, IpAddress];
const digest = new Uint8Array(8);
const treeSrh = encodeTreeSrh(
  {
    ...{ proxyAddress: PROXY, replicationSid: REPLICATION, epoch: 1, membersDigest: digest, treeDigest: digest },
    endMtTlvs: [{ edge: EDGE, receivers: [{ address: H1, qpn: 7 }] }],
  },
  { endMtTlv: 124, treeTlv: 125 },
);

let guard: GuardUnderTest;
beforeAll(() => void (guard = new GuardUnderTest()));
afterAll(() => guard.close());
beforeEach(() => {
  guard.configure(ALL_KINDS);
  guard.clearCounters();
  const intent = loadIntent(
    'router: { name: b, loopback: { ipv6: 2001:db8:ffff::1 } }\nborder-ports: [wan]\n',
    'cnpd.yaml',
  );
  if (!intent.ok) throw new Error('the file is wrong');
  const sid = (one: IpAddress, behavior: number) =>
    ({ sid: one, behavior, carrier: 'isis', originator: 'r2' }) as const;
  const guarded = planGuarded(
    intent.value,
    [],
    {
      sids: () => [sid(EDGE, 0x8001), sid(REPLICATION, 0x8003)],
      members: () => [source(), receiver(1)],
      topologies: () => [],
      originatorOf: () => undefined,
    },
    {},
  );
  for (const one of guarded) guard.object.map(GUARD_MAPS.guarded).update(guardedKey(one.address), GUARDED_VALUE);
});

const inner = data({ source: NODE, destination: PROXY });
const srhOver = (payload: Uint8Array): Uint8Array => Uint8Array.from([41, ...treeSrh.subarray(1), ...payload]);

test.each([
  ['data of a group to an edge', ipv6([NODE, EDGE], 43, srhOver(inner))],
  ['data of a group to a branching node', ipv6([NODE, REPLICATION], 43, srhOver(inner))],
  ['an answer to a branching node', ipv6([NODE, REPLICATION], 41, inner)],
  ['an answer to a Proxy Address', inner],
  ['ICMPv6 to a replication SID', ipv6([NODE, REPLICATION], 58, Uint8Array.of(2, 0, 0, 0, 0, 0, 5, 0))],
  ['a packet whose segments lead to the Proxy Address', ipv6([NODE, H1], 43, srhOver(inner))],
])('RMC-9-c: %s does not come in from outside; the other way it passes', (_, packet) => {
  expect(guard.verdict('ingress', frame(packet))).toBe(DROP);
  expect(guard.count('guard.ingress.end-con.dropped')).toBe(1);
  expect(guard.verdict('egress', frame(packet))).toBe(NEXT);
});

test('other packets to hosts do', () => {
  expect(guard.verdict('ingress', frame(data({ source: NODE, destination: H1 })))).toBe(NEXT);
});
