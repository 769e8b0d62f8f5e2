// The TLVs of our own LSP's fragments.
import { expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import type { Level } from '../../../packet/isis/types.ts';
import { A, B, adjacency, hello } from '../hostile.fixture.ts';
import { type Agent, endCon, originate, proxied, systemId } from '../simulation.fixture.ts';

const sentIn = ({ speaker }: Agent, level: Level, fragment: string): readonly IsisTlv[] => {
  const decoded = decodePdu(speaker.levels.get(level)!.lsdb.byKey.get(`${A}.00-${fragment}`)!.raw);
  return decoded.ok && decoded.value.kind === 'lsp' ? decoded.value.tlvs : [];
};
const PROTOCOLS: IsisTlv = { kind: 'protocols-supported', nlpids: [0xcc, 0x8e] };
const AREA: IsisTlv = { kind: 'area-addresses', areas: [Uint8Array.of(0x49, 0, 1)] };
const NEIGHBORS = [{ systemId: systemId(B), pseudonode: 0, metric: 10, subTlvs: new Uint8Array(0) }];
const WIDE: IsisTlv = { kind: 'extended-is-reachability', neighbors: NEIGHBORS };

test('fragment 0: protocols, area, hostname and neighbor; no neighbor without an adjacency, and the hostname is optional', () => {
  const { a, b, simulation } = adjacency({ hostname: 'leaf1' });
  const name: IsisTlv = { kind: 'hostname', name: 'leaf1' };
  expect(sentIn(a, 2, '00')).toEqual([PROTOCOLS, AREA, name, WIDE]);
  b.kill();
  simulation.run(40_000);
  expect(sentIn(a, 2, '00')).toEqual([PROTOCOLS, AREA, name]);
  expect(sentIn(adjacency().a, 2, '00')).toEqual([PROTOCOLS, AREA, WIDE]);
});

test('in a level without the adjacency it has no neighbor', () => {
  const { a, b, give, simulation } = adjacency({ levels: [1, 2] });
  expect([1, 2].map((level) => sentIn(a, level as Level, '00'))).toEqual([
    [PROTOCOLS, AREA, WIDE],
    [PROTOCOLS, AREA, WIDE],
  ]);
  b.kill();
  give(hello({ circuitType: 2 }));
  simulation.run(500);
  expect([1, 2].map((level) => sentIn(a, level as Level, '00'))).toEqual([
    [PROTOCOLS, AREA],
    [PROTOCOLS, AREA, WIDE],
  ]);
});

test.each<[string, string[], string, number[]]>([
  ['both', ['192.0.2.1', '2001:db8::1'], '192.0.2.1', []],
  ['only an IPv4 address', ['192.0.2.1'], '192.0.2.1', []],
  ['only an IPv6 address', ['2001:db8::1'], '0.0.0.0', [12, 16, 0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 1]],
])('a router with SIDs and %s identifies itself in TLV 242 (RFC 7981 §2)', (_what, identity, id, more) => {
  const { a, simulation } = adjacency();
  const sids = [endCon('2001:db8:c::1', '2001:db8:c::/48')];
  a.event(originate([], { sids, identity: identity.map((text) => address(text)) }));
  simulation.run(500);
  const capability = {
    ...{ kind: 'router-capability', routerId: address(id), flags: 0, subTlvs: Uint8Array.of(...more, 25, 2, 0, 0) },
  };
  expect(sentIn(a, 2, '00')).toEqual([PROTOCOLS, AREA, capability, WIDE]);
});

test('the other fragments: prefixes of each family with their sub-TLVs, and SIDs', () => {
  const { a, simulation } = adjacency();
  const [four, six] = [proxied('10.0.0.0/8', '192.0.2.1'), proxied('2001:db8:1::/48', '2001:db8::1')];
  const sid = endCon('2001:db8:c::1', '2001:db8:c::/48');
  a.event(originate([six, four, proxied('10.1.0.0/16', '2001:db8::1')], { sids: [sid] }));
  simulation.run(500);
  const entry = (prefix: typeof four.prefix, ...subTlvs: object[]) => ({
    ...{ prefix, metric: 0xfe000001, down: false, external: false },
    subTlvs: [{ kind: 'prefix-attribute-flags', flags: Uint8Array.of(1) }, ...subTlvs],
  });
  const of4 = { kind: 'ipv4-source-router-id', address: address('192.0.2.1') };
  const of6 = { kind: 'ipv6-source-router-id', address: address('2001:db8::1') };
  const end = { kind: 'srv6-end-sid', flags: 0, behavior: sid.behavior, sid: sid.sid, subSubTlvs: new Uint8Array() };
  const locator = { prefix: sid.locator, metric: 0xfe000001, flags: 0, algorithm: 0, subTlvs: [end] };
  expect(sentIn(a, 2, '01')).toEqual([
    {
      kind: 'ipv4-reachability',
      prefixes: [entry(four.prefix, of4), entry(proxied('10.1.0.0/16').prefix, of6)],
    },
    { kind: 'ipv6-reachability', prefixes: [entry(six.prefix, of6)] },
    { kind: 'srv6-locator', mtId: 0, locators: [locator] },
  ]);
});
