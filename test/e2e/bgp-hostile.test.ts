// What a BGP neighbor may say to p, whose gobgpd passes everything on to cnpd: ExaBGP announces attributes that are
// malformed, in all ways that there are, beside good ones. And one that has 50,000 sender prefixes.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BgpNetwork, ExaBgp, FOLLOW, RawNeighbor, pathsOf, raw39, speaker } from './support/bgp.ts';
import { LOOPBACK, watching } from './support/line.ts';
import type { Router } from './support/network.ts';
import { is, matches, until } from '../support/until.ts';

const X = '2001:db8:0:5::2';
const CONFIG = `
process api { run /run/process; encoder json; }
neighbor 2001:db8:0:5::1 {
  router-id 192.0.2.7; local-address ${X}; local-as 65001; peer-as 65001;
  family { ipv6 unicast; }
  api { processes [api]; }
}
`;
/** Next hop of everything that ExaBGP announces. */
const HOP = '2001:db8:ffff::9';
const HEADER = '0002011020010db8ffff00000000000000000009';
const PNC = 'ffdc001020010db8ffff00000000000000000001';
const P = { ...speaker('p'), ...watching() };

let bgp: BgpNetwork;
let p: Router;

beforeAll(async () => {
  bgp = await BgpNetwork.up('hostile', 'p');
  p = bgp.router('p');
  await p.start(P);
});
afterAll(() => bgp.down());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(bgp.net.logs());
});

interface Case {
  readonly what: string;
  /** Of the attribute. */
  readonly value: string;
  readonly flags?: number;
  /** What becomes of the path. */
  readonly status: string;
  readonly counter?: string;
}

const CASES: readonly Case[] = [
  { what: 'a good one', value: HEADER + PNC, status: 'used' },
  { what: 'extended length', value: HEADER + PNC, flags: 0xd0, status: 'used' },
  { what: 'Partial', value: HEADER + PNC, flags: 0xe0, status: 'used' },
  {
    what: 'unknown characteristics around it, in any order',
    value: `${HEADER}ffff0001aa${PNC}00010000`,
    status: 'used',
  },
  {
    what: 'the same twice: the first counts',
    value: `${HEADER}${PNC}ffdc001020010db8ffff000000000000000000ff`,
    status: 'used',
  },
  {
    what: 'a malformed one before a good one',
    value: `${HEADER}ffdc000101${PNC}`,
    status: 'used',
    counter: 'characteristic.bad-length',
  },
  {
    what: '3500 octets of an unknown characteristic',
    value: `${HEADER}12340d90${'5a'.repeat(0x0d90)}${PNC}`,
    flags: 0xd0,
    status: 'used',
  },
  {
    what: 'an AFI that is not the route’s',
    value: `0001${HEADER.slice(4)}${PNC}`,
    status: 'family-mismatch',
    counter: 'learn.family-mismatch',
  },
  {
    what: 'a SAFI that is not unicast',
    value: `000280${HEADER.slice(6)}${PNC}`,
    status: 'family-mismatch',
    counter: 'learn.family-mismatch',
  },
  {
    what: 'flags that are not transitive',
    value: HEADER + PNC,
    flags: 0x80,
    status: 'malformed',
    counter: 'nhc.bad-flags',
  },
  { what: 'one octet', value: '00', status: 'malformed', counter: 'nhc.truncated' },
  {
    what: 'a header that ends in its next hop',
    value: HEADER.slice(0, 24),
    status: 'malformed',
    counter: 'nhc.truncated',
  },
  {
    what: 'a next hop of 5 octets',
    value: `000201050102030405${PNC}`,
    status: 'malformed',
    counter: 'nhc.bad-next-hop-length',
  },
  {
    what: 'a next hop of 32 octets',
    value: `00020120${HEADER.slice(8)}fe800000000000000000000000000001${PNC}`,
    status: 'malformed',
    counter: 'nhc.bad-next-hop-length',
  },
  { what: 'no characteristic', value: HEADER, status: 'malformed', counter: 'nhc.no-characteristic' },
  {
    what: 'half the header of a characteristic',
    value: `${HEADER}ffdc`,
    status: 'malformed',
    counter: 'nhc.truncated-characteristic',
  },
  {
    what: 'a characteristic longer than the attribute',
    value: `${HEADER}ffdcffff20010db8ffff00000000000000000001`,
    status: 'malformed',
    counter: 'nhc.characteristic-overrun',
  },
  {
    what: 'a proxy address of 3 octets',
    value: `${HEADER}ffdc0003c00002`,
    status: 'no-proxy-address',
    counter: 'characteristic.bad-length',
  },
  {
    what: 'a proxy that is a multicast group',
    value: `${HEADER}ffdc0010ff020000000000000000000000000001`,
    status: 'no-proxy-address',
    counter: 'characteristic.not-unicast',
  },
  {
    what: 'a proxy that is the loopback address',
    value: `${HEADER}ffdc00047f000001`,
    status: 'no-proxy-address',
    counter: 'characteristic.not-unicast',
  },
  {
    what: 'characteristics that cnpd does not know alone',
    value: `${HEADER}0003000401020304`,
    status: 'no-characteristic',
  },
  {
    what: 'another next hop than the route’s',
    value: `0002011020010db8ffff0000000000000000000a${PNC}`,
    status: 'next-hop-mismatch',
    counter: 'learn.next-hop-mismatch',
  },
  {
    what: 'a next hop of the other family',
    value: `00010104c0000209${PNC}`,
    status: 'next-hop-mismatch',
    counter: 'learn.next-hop-mismatch',
  },
  {
    what: 'the private characteristic where it has no business',
    value: `${HEADER}${PNC}ffdd000401000000`,
    status: 'used',
    counter: 'learn.private-misplaced',
  },
  {
    what: 'a private characteristic that is too short',
    value: `${HEADER}${PNC}ffdd000101`,
    status: 'used',
    counter: 'characteristic.truncated',
  },
  {
    what: 'a private characteristic of a version to come',
    value: `${HEADER}${PNC}ffdd000402000000`,
    status: 'used',
    counter: 'characteristic.unknown-version',
  },
];
const prefixOf = (i: number): string => `2001:db8:100:${(i + 1).toString(16)}::/64`;

describe('malformed attributes', () => {
  test('each is counted by what is wrong with it and taken as if it were not there; those beside it are used, and everybody stays up', async () => {
    const x = new ExaBgp(bgp.net.lab, 'x');
    try {
      await x.start(CONFIG, FOLLOW);
      await x.say(
        ...CASES.map(({ value, flags }, i) => `announce route ${prefixOf(i)} next-hop ${HOP} ${raw39(value, flags)}`),
      );
      await until('p has heard of all', async () => (await p.get('bgp', 'session'))[0]!['learned'], is(CASES.length));
      const paths = await p.get('bgp', 'paths');
      const statuses = CASES.map(({ what }, i) => [
        what,
        paths.find((row) => row['prefix'] === prefixOf(i))?.['status'],
      ]);
      expect(statuses).toEqual(CASES.map(({ what, status }) => [what, status]));
      const counters = await p.counters();
      for (const { what, counter } of CASES)
        if (counter)
          expect(counters[`bgp.${counter}`], what).toBeGreaterThanOrEqual(
            CASES.filter((other) => other.counter === counter).length,
          );
      for (const [i, { what, status }] of CASES.entries())
        expect((await p.sender(prefixOf(i)))?.['proxy'], what).toBe(status === 'used' ? LOOPBACK.leaf.ipv6 : undefined);
      expect(await pathsOf(p, prefixOf(3))).toMatchObject([{ unknown: [1, 65535], peer: X }]);
      for (const peer of [X, '2001:db8:0:2::1']) await bgp.gobgpd.p.reaches('ESTABLISHED', peer);

      // A good attribute becomes a malformed one, and good again.
      const announce = (value: string): Promise<void> =>
        x.say(`announce route ${prefixOf(0)} next-hop ${HOP} ${raw39(value)}`);
      await announce(HEADER);
      await until('the proxy is gone', async () => (await p.sender(prefixOf(0)))?.['proxy'], is(undefined));
      await announce(HEADER + PNC);
      await until(
        'the proxy is back',
        () => p.sender(prefixOf(0)),
        (row) => row?.['proxy'],
      );
    } finally {
      await x.stop();
    }
    await until('p has forgotten all', async () => (await p.get('bgp', 'session'))[0]!['learned'], is(0));
    expect(await p.get('senders')).toEqual([]);
    expect(await p.get('status')).toMatchObject({ health: 'running' });
  });
});

test('PNC-5-b: 50,000 sender prefixes are learned by a cnpd that takes no message above 256 kB, and forgotten with their neighbor', async () => {
  const COUNT = 50_000;
  const LIMIT_MS = 100_000;
  const learned = async (): Promise<unknown> => (await p.get('bgp', 'session'))[0]!['with-proxy'];
  await p.stop();
  await bgp.gobgpd.p.reaches('ACTIVE', X);
  const x = new RawNeighbor(bgp.net.lab, 'x', '2001:db8:0:5::1');
  try {
    // 2001:db8:200:N::/64
    x.announce(
      HEADER.slice(8),
      HEADER + PNC,
      Array.from({ length: COUNT }, (_, i) => Buffer.from(`20010db80200${i.toString(16).padStart(4, '0')}`, 'hex')),
    );
    await until(
      'p’s gobgpd has them',
      () => bgp.gobgpd.p.gobgp('neighbor'),
      matches(new RegExp(`^${X} .* ${COUNT}$`, 'm')),
      LIMIT_MS,
    );
    await p.start({ ...speaker('p', { gobgp: { 'max-message': '256kB' } }), ...watching() });
    await until('p has learned them', () => learned(), is(COUNT), LIMIT_MS);
    expect(await p.counter('bgp.session.lost')).toBe(0);
    const rows = await p.get('senders');
    expect(rows).toHaveLength(COUNT);
    expect(rows.filter((row) => row['proxy'] !== LOOPBACK.leaf.ipv6 || row['best'] !== true)).toEqual([]);
  } finally {
    await x.stop();
  }
  await until('p has forgotten them', () => learned(), is(0), LIMIT_MS);
});
