// The effects of replacing a version of an LSP: which reports and walks follow, and which do not.
import { byKind } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { P_FLAG, prefixEntry, tlv236 } from '../../../packet/isis/foreign.fixture.ts';
import type { IsisTlv, PrefixSubTlv } from '../../../packet/isis/tlv/types.ts';
import { B, C, adjacency, lsp, reachedOnce } from '../hostile.fixture.ts';
import { type Agent, END_CON, endCon, systemId } from '../simulation.fixture.ts';

const source = (text: string): PrefixSubTlv => ({ kind: 'ipv6-source-router-id', address: address(text) });
const prefixes = (text: string, ...subTlvs: PrefixSubTlv[]): IsisTlv => tlv236(prefixEntry(text, subTlvs));
const sid = ((): IsisTlv => {
  const { sid: at, locator } = endCon('2001:db8:c::1', '2001:db8:c::/48');
  const subTlvs = [
    { kind: 'srv6-end-sid', flags: 0, behavior: END_CON, sid: at, subSubTlvs: new Uint8Array() } as const,
  ];
  return { kind: 'srv6-locator', mtId: 0, locators: [{ prefix: locator, metric: 1, flags: 0, algorithm: 0, subTlvs }] };
})();
const te = (text: string): IsisTlv =>
  text.includes(':')
    ? { kind: 'ipv6-te-router-id', address: address(text) }
    : { kind: 'ipv4-te-router-id', address: address(text) };
const own = (text: string): IsisTlv =>
  text.includes(':')
    ? { kind: 'ipv6-interface-addresses', addresses: [address(text)] }
    : { kind: 'ipv4-interface-addresses', addresses: [address(text)] };

/** A, and the fragments of C; each call advertises a newer version. */
function scene() {
  const net = adjacency();
  reachedOnce(net.a);
  const sequences = new Map<number, number>();
  const advertise = (fragment: number, ...tlvs: IsisTlv[]): void => {
    const sequence = (sequences.get(fragment) ?? 0) + 1;
    sequences.set(fragment, sequence);
    net.give(lsp({ sequence, tlvs, lspId: { systemId: systemId(C), pseudonode: 0, fragment } }));
  };
  const reportOf = (fragment: number) => net.a.reports.get(`L2 ${C}.00-0${fragment}`);
  const proxyIn = (fragment: number): string | undefined => {
    const proxy = byKind(reportOf(fragment)?.advertisements ?? []).prefixes[0]?.proxy;
    return proxy && formatAddress(proxy);
  };
  return { ...net, advertise, reportOf, proxyIn };
}

describe('addresses of a node that change', () => {
  test.each<[string, IsisTlv, IsisTlv, string, string]>([
    ['its IPv6 router ID', te('2001:db8::1'), te('2001:db8::2'), '2001:db8::1', '2001:db8::2'],
    ['its IPv4 router ID', te('192.0.2.1'), te('192.0.2.2'), '192.0.2.1', '192.0.2.2'],
    ['its IPv6 interface', own('2001:db8::1'), own('2001:db8::2'), '2001:db8::1', '2001:db8::2'],
    ['its IPv4 interface', own('192.0.2.1'), own('192.0.2.2'), '192.0.2.1', '192.0.2.2'],
    ['an interface to a router ID', own('2001:db8::1'), te('192.0.2.2'), '2001:db8::1', '192.0.2.2'],
  ])('%s: its other fragments without proxies are reported again', (_what, before, after, first, second) => {
    const { advertise, proxyIn } = scene();
    advertise(3, prefixes('2001:db8:1::/48', P_FLAG));
    advertise(1, before);
    expect(proxyIn(3)).toBe(first);
    advertise(1, after);
    expect(proxyIn(3)).toBe(second);
    advertise(1);
    expect(proxyIn(3)).toBeUndefined();
  });

  test('cause no report of fragments that name their proxy, have no flag, or are of another node', () => {
    const { advertise, reportOf, a, give } = scene();
    reachedOnce(a, '0000.0000.000d');
    advertise(3, prefixes('2001:db8:1::/48', P_FLAG, source('2001:db8::9')));
    advertise(4, prefixes('2001:db8:2::/48'));
    const other = { systemId: systemId('0000.0000.000d'), pseudonode: 0, fragment: 3 };
    give(lsp({ lspId: other, tlvs: [prefixes('2001:db8:3::/48', P_FLAG)] }));
    const reports = () => [reportOf(3), reportOf(4), a.reports.get('L2 0000.0000.000d.00-03')];
    const before = reports();
    expect(before.map((report) => report!.advertisements.length)).toEqual([1, 1, 1]);
    advertise(1, te('2001:db8::1'));
    reports().forEach((report, i) => expect(report).toBe(before[i]));
  });

  test('that stay the same cause no report, whatever else changes', () => {
    const { advertise, reportOf } = scene();
    advertise(3, prefixes('2001:db8:1::/48', P_FLAG));
    advertise(1, te('192.0.2.1'), te('2001:db8::1'), own('192.0.2.2'), own('2001:db8::2'));
    const before = reportOf(3);
    advertise(1, te('192.0.2.1'), te('2001:db8::1'), own('192.0.2.2'), own('2001:db8::2'), {
      kind: 'hostname',
      name: 'x',
    });
    expect(reportOf(3)).toBe(before);
  });

  test('of the lowest fragment count first, per family', () => {
    const { advertise, proxyIn } = scene();
    advertise(3, prefixes('2001:db8:1::/48', P_FLAG));
    advertise(7, te('2001:db8::7'), own('2001:db8::17'));
    advertise(5, te('192.0.2.5'), own('2001:db8::15'));
    expect(proxyIn(3)).toBe('2001:db8::7');
    advertise(7, own('2001:db8::17'));
    expect(proxyIn(3)).toBe('192.0.2.5');
    advertise(5, own('2001:db8::15'));
    expect(proxyIn(3)).toBe('2001:db8::15');
    advertise(5);
    expect(proxyIn(3)).toBe('2001:db8::17');
  });
});

describe('the learned table', () => {
  test.each<[string, IsisTlv[]]>([
    ['a prefix', [prefixes('2001:db8:1::/48')]],
    ['a SID', [sid]],
    ['an IPv4 router address', [te('192.0.2.1')]],
    ['an IPv6 router address', [te('2001:db8::1')]],
  ])('gets a report of an LSP with %s, and another when the LSP no longer has it or is purged', (_what, tlvs) => {
    for (const end of [{}, { remainingLifetime: 0 }]) {
      const { a, give } = scene();
      const isReported = (): boolean => a.reports.has(`L2 ${C}.00-00`);
      give(lsp({ tlvs }));
      expect(isReported()).toBe(true);
      give(lsp({ sequence: 8, ...end }));
      expect(isReported()).toBe(false);
    }
  });

  test('gets no report of an LSP without such entries, of our own, or of a refresh', () => {
    const { a, give, advertise, reportOf } = scene();
    give(lsp({ tlvs: [{ kind: 'hostname', name: 'x' }, own('2001:db8::1')] }));
    advertise(1, prefixes('2001:db8:1::/48'));
    const report = reportOf(1);
    advertise(1, prefixes('2001:db8:1::/48'));
    expect([...a.reports.keys()]).toEqual([`L2 ${C}.00-01`]);
    expect(reportOf(1)).toBe(report);
  });

  test('gets an empty report only for an LSP with entries reported before', () => {
    const { a, advertise, give } = scene();
    const ended: string[] = [];
    a.reports.delete = (source) => {
      ended.push(source);
      return Map.prototype.delete.call(a.reports, source);
    };
    advertise(1, { kind: 'hostname', name: 'x' });
    advertise(1, { kind: 'hostname', name: 'y' });
    give(lsp({ sequence: 9, remainingLifetime: 0, lspId: { systemId: systemId(C), pseudonode: 0, fragment: 1 } }));
    advertise(2, prefixes('2001:db8:1::/48'));
    expect(ended).toEqual([]);
    advertise(2);
    advertise(2, { kind: 'hostname', name: 'z' });
    expect(ended).toEqual([`L2 ${C}.00-02`]);
  });

  test('gets one empty report when an LSP is forgotten', () => {
    const { a, simulation, wire, advertise } = scene();
    wire.filter = (pdu, from) => from === 0 || pdu.kind === 'p2p-hello';
    advertise(1, prefixes('2001:db8:1::/48'), te('2001:db8::1'));
    expect({
      prefixesLength: a.prefixes().length,
      hasByKey: a.speaker.levels.get(2)!.lsdb.byKey.has(`${C}.00-01`),
    }).toEqual({ prefixesLength: 1, hasByKey: true });
    simulation.run(1_201_000);
    expect({ prefixesLength: a.prefixes().length, hasReports: a.reports.has(`L2 ${C}.00-01`) }).toEqual({
      prefixesLength: 0,
      hasReports: false,
    });
  });
});

describe('another walk over the topology starts', () => {
  const walks = (a: Agent): boolean => a.speaker.levels.get(2)!.graph.changed;
  const link = (system: string, metric = 10): IsisTlv => ({
    kind: 'extended-is-reachability',
    neighbors: [{ systemId: systemId(system), pseudonode: 0, metric, subTlvs: new Uint8Array(0) }],
  });

  test.each<[string, object, boolean]>([
    ['the same', { tlvs: [link(B)] }, false],
    ['another hostname', { tlvs: [link(B), { kind: 'hostname', name: 'x' }] }, false],
    ['another prefix', { tlvs: [link(B), prefixes('2001:db8:1::/48')] }, false],
    ['another neighbor', { tlvs: [link('0000.0000.000d')] }, true],
    ['another metric', { tlvs: [link(B, 11)] }, true],
    ['an additional neighbor', { tlvs: [link(B), link('0000.0000.000d')] }, true],
    ['no neighbor', {}, true],
    ['the overload bit', { tlvs: [link(B)], overload: true }, true],
    ['that it is a purge', { remainingLifetime: 0 }, true],
  ])('when an LSP changes to %s', (_what, fields, expected) => {
    const { a, give, simulation } = scene();
    give(lsp({ tlvs: [link(B)] }));
    expect(walks(a)).toBe(true);
    simulation.run(1000);
    expect(walks(a)).toBe(false);
    give(lsp({ sequence: 8, ...fields }));
    expect(walks(a)).toBe(expected);
  });
});
