import { describe, expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import type { Intent } from '../intent/intent.ts';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import { advertisedIn, originated } from '../plan/origination.ts';
import { carriageProblems, placementProblems } from './advertised.ts';

const NOTHING = {} as Intent;

test('unplaced prefixes and members of groups are reported', () => {
  expect(placementProblems(NOTHING, [], 'isis', 0)).toEqual([]);
  expect(placementProblems(NOTHING, [], 'isis', 7)[0]!.problem).toMatch(
    /^7 prefixes or members of groups are not advertised/,
  );
  expect(placementProblems(NOTHING, [], 'bgp', 1)).toMatchObject([
    {
      problem:
        '1 prefix or member of a group is not advertised: a path in BGP needs a next hop of its own family, and has ' +
        'room for about 40 members of groups; what senders without a proxy understand needs a path for their prefix',
      remedy: expect.stringContaining('bgp.next-hop'),
    },
  ]);
  expect(placementProblems(NOTHING, [], 'ospfv2', 7)).toMatchObject([
    { feature: 'ospfv2', problem: expect.stringContaining('OSPFv2') },
  ]);
});

describe('senders of a family that no carrier advertises', () => {
  const declared = (carriers: object, ...senders: string[]): Intent =>
    ({
      ...carriers,
      router: {},
      proxy: {
        address: address('2001:db8::1'),
        otherAddress: address('192.0.2.1'),
        senders: senders.map((text) => ({ prefix: prefix(text), format: 'standard-cnp' })),
      },
    }) as unknown as Intent;
  const both = ['198.51.100.0/24', '2001:db8:1::/64'] as const;

  test('OSPFv2 omits IPv6, OSPFv3 omits IPv4; both together, or with IS-IS, omit none', () => {
    const missing = (carriers: object): string[] =>
      carriageProblems(declared(carriers, ...both)).map(({ remedy }) => remedy);
    expect(missing({ ospfv2: {} })).toEqual(['add ospfv3 or isis to cnpd.yaml']);
    expect(missing({ ospfv3: {} })).toEqual(['add ospfv2 or isis to cnpd.yaml']);
    expect(missing({ ospfv2: {}, ospfv3: {} })).toEqual([]);
    expect(missing({ isis: {}, ospfv3: {} })).toEqual([]);
    expect(missing({})).toEqual([]);
  });

  test('BGP itself counts the senders without a next hop', () => {
    const bgp = { nextHop6: address('2001:db8::1') };
    expect(carriageProblems(declared({ bgp }, ...both))).toEqual([]);
    const advertised = (...senders: string[]): string[] => {
      const asked = declared({ bgp, ospfv2: {} }, ...senders);
      return [address('192.0.2.1'), address('2001:db8::1')].flatMap((proxy) =>
        advertisedIn(
          asked,
          proxy,
          asked.proxy!.senders.filter((one) => one.prefix.address.family === proxy.family),
        ),
      );
    };
    expect({ first: advertised(both[0]), both: advertised(...both) }).toEqual({
      first: ['ospfv2'],
      both: ['ospfv2', 'bgp'],
    });
  });

  test('a prefix without a form in one carrier is a problem only if no other carrier has one, and then only once', () => {
    const proxy = {
      address: address('2001:db8::1'),
      senders: both.map((text) => ({ prefix: prefix(text), format: 'standard-cnp' })),
    };
    const problems = (carriers: object, more: object = {}, counted = 1) => {
      const asked = { ...carriers, router: {}, proxy: { ...proxy, ...more } } as unknown as Intent;
      return [...placementProblems(asked, originated(asked), 'ospfv2', counted), ...carriageProblems(asked)];
    };
    const [lacking] = problems({ ospfv2: {}, ospfv3: {} });
    expect(lacking).toMatchObject({
      feature: 'ospfv2',
      problem: expect.stringMatching(
        /^1 prefix or member of a group is not advertised: OSPFv2 cannot advertise an IPv4 sender/,
      ),
      remedy: expect.stringContaining('proxy.address an address of each family'),
    });
    expect(problems({ ospfv2: {}, ospfv3: {} })).toHaveLength(1);
    expect(problems({ ospfv2: {}, ospfv3: {}, isis: {} })).toEqual([]);
    expect(problems({ ospfv2: {}, ospfv3: {} }, { otherAddress: address('192.0.2.1') }, 0)).toEqual([]);
    // Prefixes that do not fit stay a problem: routers that hear only this carrier miss them.
    expect(problems({ ospfv2: {}, isis: {} }, {}, 4)).toMatchObject([
      { problem: expect.stringMatching(/^3 prefixes or members of groups are not advertised/) },
    ]);
  });

  test('what senders understand is advertised as they are, and missed as they are', () => {
    const notes = (carriers: string): string[] =>
      carriageProblems(load(`${ROUTER}${SOURCE}${carriers}`)).map(({ feature, problem }) => `${feature}: ${problem}`);
    expect(notes(OSPFV3)).toEqual([expect.stringMatching(/^source: the IPv4 senders under source are not advertised/)]);
    expect(notes(`${OSPFV3}isis: { system-id: 0000.0000.c001, area: 49.0001 }\n`)).toEqual([]);
    const isisToo = { bgp: { nextHop6: address('2001:db8::1') }, isis: {} };
    const asked = { ...load(`${ROUTER}${SOURCE}`), ...isisToo } as unknown as Intent;
    expect(placementProblems(asked, originated(asked), 'bgp', 1)).toEqual([]);
    expect(placementProblems(asked, [], 'bgp', 1)).toHaveLength(1);
  });
});

const SOURCE =
  'source: { senders: [{ prefix: 198.51.100.0/24, action: convert }, { prefix: 2001:db8:1::/64, action: convert }], ' +
  'advertise: on, accept-from: [2001:db8:ffff::/48] }\n';
const OSPFV3 = 'ospfv3: { router-id: 192.0.2.201, areas: [{ area: 0 }] }\n';
