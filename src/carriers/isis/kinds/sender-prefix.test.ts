// The proxy of a prefix whose entry names none, from the node's addresses (decision D6), and which prefixes are read.
import { byKind } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { P_FLAG, prefixEntry } from '../../../packet/isis/foreign.fixture.ts';
import type { IsisTlv, PrefixSubTlv } from '../../../packet/isis/tlv/types.ts';
import { lsp } from '../hostile.fixture.ts';
import { Router } from '../router.fixture.ts';
import { Agent, Simulation, systemId, testConfig } from '../simulation.fixture.ts';

const LEARNER = '0000.0000.00ff';

/** An agent that learns from one router. */
function learning(): { simulation: Simulation; router: Router; learner: Agent } {
  const simulation = new Simulation();
  const router = new Router(simulation, '0000.0000.1111');
  const learner = new Agent(simulation, testConfig(LEARNER));
  simulation.wire(learner.attach, router.attach);
  return { simulation, router, learner };
}

describe('proxy fallback (decision D6)', () => {
  test('sub-TLV 12 first, then TLV 140, then a TLV 232 that is not link-local; unflagged prefixes are reported without proxy (D5)', () => {
    const { simulation, router, learner } = learning();
    const reachability = {
      kind: 'ipv6-reachability',
      prefixes: [
        prefixEntry('2001:db8:1::/64', [P_FLAG, { kind: 'ipv6-source-router-id', address: address('2001:db8::12') }]),
        prefixEntry('2001:db8:2::/64', [P_FLAG]),
        prefixEntry('2001:db8:3::/64'),
      ],
    };
    const proxies = (): unknown[] => learner.prefixes().map((p) => [p.pnc, p.proxy]);
    const advertise = (...tlvs: object[]): void => {
      router.extra = [reachability, ...tlvs] as typeof router.extra;
      router.originate();
      simulation.run(2000);
    };
    advertise({ kind: 'ipv6-interface-addresses', addresses: [address('fe80::1')] });
    expect(proxies()).toEqual([
      [true, address('2001:db8::12')],
      [true, undefined],
      [false, undefined],
    ]);
    advertise({ kind: 'ipv6-interface-addresses', addresses: [address('fe80::1'), address('2001:db8::232')] });
    expect(proxies()[1]).toEqual([true, address('2001:db8::232')]);
    advertise(
      { kind: 'ipv6-interface-addresses', addresses: [address('2001:db8::232')] },
      { kind: 'ipv6-te-router-id', address: address('2001:db8::140') },
    );
    expect(proxies()[1]).toEqual([true, address('2001:db8::140')]);
    expect({ first: proxies()[0], third: proxies()[2] }).toEqual({
      first: [true, address('2001:db8::12')],
      third: [false, undefined],
    });
    // An entry that names an address that cannot be a proxy is reported with it, and the learned table counts it. No
    // other address is used instead.
    reachability.prefixes[0] = prefixEntry('2001:db8:1::/64', [
      P_FLAG,
      { kind: 'ipv6-source-router-id', address: address('ff02::12') },
    ]);
    advertise({ kind: 'ipv6-te-router-id', address: address('2001:db8::140') });
    expect(proxies()[0]).toEqual([true, address('ff02::12')]);
  });

  test('for an IPv4 prefix sub-TLV 11, then TLV 134, then a host’s address in TLV 132; without one, the other family’s', () => {
    const { simulation, router, learner } = learning();
    const proxyFor = (subTlvs: PrefixSubTlv[], ...tlvs: object[]): string | undefined => {
      router.extra = [
        { kind: 'ipv4-reachability', prefixes: [prefixEntry('10.1.0.0/16', [P_FLAG, ...subTlvs])] },
        ...tlvs,
      ] as typeof router.extra;
      router.originate();
      simulation.run(2000);
      const proxy = learner.prefixes()[0]!.proxy;
      return proxy && formatAddress(proxy);
    };
    const own: PrefixSubTlv = { kind: 'ipv4-source-router-id', address: address('192.0.2.11') };
    const [te4, te6] = [
      { kind: 'ipv4-te-router-id', address: address('192.0.2.134') },
      { kind: 'ipv6-te-router-id', address: address('2001:db8::140') },
    ];
    const [if4, if6] = [
      {
        kind: 'ipv4-interface-addresses',
        addresses: [address('127.0.0.1'), address('192.0.2.132'), address('192.0.2.133')],
      },
      { kind: 'ipv6-interface-addresses', addresses: [address('2001:db8::232')] },
    ];
    expect([
      proxyFor([]),
      proxyFor([own], te4, te6, if4, if6),
      proxyFor([], te4, te6, if4, if6),
      proxyFor([], te6, if4, if6),
      proxyFor([], if4, if6),
      proxyFor([], if6),
      proxyFor([], { ...te4, address: address('0.0.0.0') }, if4),
      proxyFor([], if4, { ...if4, addresses: [address('192.0.2.200')] }),
    ]).toEqual([
      undefined,
      '192.0.2.11',
      '192.0.2.134',
      '2001:db8::140',
      '192.0.2.132',
      '2001:db8::232',
      '192.0.2.132',
      '192.0.2.132',
    ]);
  });

  test('with addresses in several fragments the lowest counts; a change makes all fragments be read again', () => {
    const { simulation, learner } = learning();
    simulation.run(3000);
    const advertise = (fragment: number, sequence: number, tlvs: object[]): void => {
      learner.deliver(
        lsp({
          sequence,
          lspId: { systemId: systemId('0000.0000.1111'), pseudonode: 0, fragment },
          tlvs: tlvs as IsisTlv[],
        }),
      );
      simulation.run(500);
    };
    const te = (last: number): object[] => [
      { kind: 'ipv4-te-router-id', address: address(`192.0.2.${last}`) },
      { kind: 'ipv6-te-router-id', address: address(`2001:db8:ffff::${last}`) },
    ];
    const prefixes = ['2001:db8:7::/48', '10.7.0.0/16'].map((text) => prefixEntry(text, [P_FLAG]));
    const found = (): unknown[] =>
      byKind(learner.reports.get('L2 0000.0000.1111.00-05')!.advertisements).prefixes.map(
        ({ proxy }) => proxy && formatAddress(proxy),
      );
    advertise(5, 1, [
      { kind: 'ipv6-reachability', prefixes: [prefixes[0]] },
      { kind: 'ipv4-reachability', prefixes: [prefixes[1]] },
    ]);
    expect(found()).toEqual([undefined, undefined]);
    advertise(9, 1, te(9));
    expect(found().sort()).toEqual(['192.0.2.9', '2001:db8:ffff::9']);
    advertise(7, 1, te(7));
    expect(found().sort()).toEqual(['192.0.2.7', '2001:db8:ffff::7']);
    advertise(7, 2, []);
    expect(found().sort()).toEqual(['192.0.2.9', '2001:db8:ffff::9']);
  });

  test('topologies: 237 with MT ID 2 counts, with 0 it MUST be ignored (RFC 5120 §7.4)', () => {
    const { simulation, router, learner } = learning();
    router.extra = [
      { kind: 'mt-ipv6-reachability', mtId: 2, prefixes: [prefixEntry('2001:db8:1::/64')] },
      { kind: 'mt-ipv6-reachability', mtId: 0, prefixes: [prefixEntry('2001:db8:2::/63')] },
      { kind: 'mt-ipv6-reachability', mtId: 4, prefixes: [prefixEntry('2001:db8:4::/62')] },
    ] as typeof router.extra;
    router.originate();
    simulation.run(5000);
    expect(learner.prefixes().map((x) => x.prefix.length)).toEqual([64]);
  });
});
