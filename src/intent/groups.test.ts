import { describe, expect, test } from 'vitest';
import { formatAddress } from '../model/address.ts';
import { ROUTER, complaints, load } from './files.fixture.ts';

const SIDS =
  'srv6: { core-ports: [eth2], end-mt: { locator: 2001:db8:e::/48 }, replication: { locator: 2001:db8:e::/48 } }\n';
const GROUP = 'name: g, proxy-address: 2001:db8:aa::1, designated-qpn: 4096';
const file = (groups: readonly string[], sids = SIDS): string =>
  `${ROUTER}${sids}groups:\n${groups.map((one) => `  - { ${one} }\n`).join('')}`;
const receivers = (...entries: readonly string[]): string =>
  `${GROUP}, receivers: [${entries.map((one) => `{ ${one} }`).join(', ')}]`;
const R1 = 'address: 2001:db8:2::1, qpn: 201';

const shown = (text: string) =>
  load(text).groups!.map(({ members }) =>
    members.map(
      ({ role, group, address, qpn, node }) =>
        `${role} ${formatAddress(group)} ${formatAddress(address)} ${qpn} ${formatAddress(node)}`,
    ),
  );

describe('groups', () => {
  test('there is none by default, and no SID for them', () => {
    expect(load(ROUTER)).not.toHaveProperty('groups');
    const { srv6 } = load(`${ROUTER}srv6: { core-ports: [eth2] }`);
    expect([srv6!.endMt, srv6!.replication]).toEqual([undefined, undefined]);
  });

  test('RMC-5.1-b, RMC-5.1-c, RMC-5.1-d: receivers with their own Queue Pairs, the source with the Designated one', () => {
    const group = `${receivers(R1, 'address: 2001:db8:2::2, qpn: 202, edge: 2001:db8:f::1')}, source: { address: 2001:db8:1::1 }`;
    expect(shown(file([group]))).toEqual([
      [
        'source 2001:db8:aa::1 2001:db8:1::1 4096 2001:db8:e::c2:0:0',
        'receiver 2001:db8:aa::1 2001:db8:2::1 201 2001:db8:e::c1:0:0',
        'receiver 2001:db8:aa::1 2001:db8:2::2 202 2001:db8:f::1',
      ],
    ]);
  });

  test('receivers that name no edge are listed: the network decides', () => {
    const named = 'address: 2001:db8:2::2, qpn: 202, edge: 2001:db8:f::1';
    for (const sids of [SIDS, '', SIDS.replace('{ core', '{ enabled: off, core')]) {
      const [group] = load(file([receivers(R1, named)], sids)).groups!;
      expect(group!.nearest!.map(formatAddress)).toEqual(['2001:db8:2::1']);
      const node = sids === SIDS ? '2001:db8:e::c1:0:0' : '::';
      expect(group!.members.map((member) => formatAddress(member.node))).toEqual([node, '2001:db8:f::1']);
    }
    expect(load(file([receivers(named)])).groups![0]).not.toHaveProperty('nearest');
  });

  test('changes for one receiver: PSN, virtual address modulo 2^64, R_Key', () => {
    const [group] = load(
      file([receivers(`${R1}, psn-delta: 16777215, write: { va-delta: -4096, r-key: 4294967295 }`)]),
    ).groups!;
    expect(group!.members[0]).toMatchObject({
      psnDelta: 0xff_ffff,
      write: { vaDelta: 2n ** 64n - 4096n, rKey: 0xffff_ffff },
    });
    expect(load(file([receivers(R1)])).groups![0]!.members[0]).toMatchObject({ psnDelta: 0 });
  });

  test('Queue Pair and first PSN of a source are learned, or as declared', () => {
    const source = (text: string) => load(file([`${GROUP}, source: { ${text} }`])).groups![0]!.source;
    expect(source('address: 2001:db8:1::1')).not.toHaveProperty('qpn');
    expect(source('address: 2001:db8:1::1, qpn: learned, start-psn: learned')).not.toHaveProperty('startPsn');
    expect(source('address: 2001:db8:1::1, qpn: 9, start-psn: 0')).toMatchObject({ qpn: 9, startPsn: 0 });
  });

  test.each<readonly [claim: string, text: string, complaint: RegExp | string]>([
    [
      'a name twice',
      file([receivers(R1), `${receivers(R1)}`.replace('aa::1', 'aa::2')]),
      'groups[1].name: g is already in this list, as entry 0',
    ],
    [
      'a Proxy Address twice',
      file([receivers(R1), receivers(R1).replace('name: g', 'name: h')]),
      'groups[1].proxy-address: 2001:db8:aa::1 is already in this list, as entry 0',
    ],
    [
      'a receiver twice',
      file([receivers(R1, 'address: 2001:db8:2::1, qpn: 9')]),
      'groups[0].receivers[1].address: 2001:db8:2::1 is already in this list, as entry 0',
    ],
    [
      'a source that receives',
      file([`${receivers(R1)}, source: { address: 2001:db8:2::1 }`]),
      'groups[0].receivers[0].address: 2001:db8:2::1 is the source of the group',
    ],
    [
      'a Proxy Address that is a receiver, of another group too',
      file([
        receivers(R1),
        'name: h, proxy-address: 2001:db8:2::1, designated-qpn: 9, receivers: [{ address: 2001:db8:2::9, qpn: 9 }]',
      ]),
      'groups[1].proxy-address: 2001:db8:2::1 is also a receiver: a Proxy Address belongs to no host',
    ],
    [
      'a Proxy Address that is the source',
      file([`${GROUP}, source: { address: 2001:db8:aa::1 }`]),
      'groups[0].proxy-address: 2001:db8:aa::1 is also a source: a Proxy Address belongs to no host',
    ],
    [
      'a Proxy Address that is a SID',
      file([receivers(R1).replace('2001:db8:aa::1', '2001:db8:e::c1:0:0')]),
      'groups[0].proxy-address: 2001:db8:e::c1:0:0 is also a SID: a Proxy Address belongs to no host',
    ],
    ['a group without members', file([GROUP]), 'groups[0]: without a source and receivers the group does nothing here'],
    [
      'a source without a replication SID',
      file([`${GROUP}, source: { address: 2001:db8:1::1 }`], ''),
      'groups[0].source: the router of the source is the root of the tree: it needs srv6.replication',
    ],
    [
      'a multicast Proxy Address',
      file([receivers(R1).replace('2001:db8:aa::1', 'ff3e::1')]),
      /^groups\[0\]\.proxy-address: ff3e::1 is not a unicast IPv6 address/,
    ],
    ['an IPv4 receiver', file([receivers('address: 192.0.2.1, qpn: 9')]), /address: found "192.0.2.1"/],
    ['a Queue Pair of 25 bits', file([receivers('address: 2001:db8:2::1, qpn: 16777216')]), /from 2 to 16777214/],
    [
      'a Queue Pair in hexadecimal, with the number to write',
      file([receivers('address: 2001:db8:2::1, qpn: 0x0001fF')]),
      /\.qpn: found "0x0001fF"; numbers are decimal here: 511$/,
    ],
    ['one of 25 bits', file([receivers('address: 2001:db8:2::1, qpn: 0x1000000')]), /from 2 to 16777214/],
    [
      'a VA delta in hexadecimal',
      file([receivers(`${R1}, write: { va-delta: 0x7f0000000000, r-key: 1 }`)]),
      /va-delta: found "0x7f0000000000"; numbers are decimal here: 139637976727552$/,
    ],
    ['Queue Pair 1', file([receivers('address: 2001:db8:2::1, qpn: 1')]), /from 2 to 16777214/],
    ['a PSN delta of 25 bits', file([receivers(`${R1}, psn-delta: 16777216`)]), /from 0 to 16777215/],
    [
      'a VA delta of 65 bits',
      file([receivers(`${R1}, write: { va-delta: 9223372036854775808, r-key: 1 }`)]),
      /va-delta: found/,
    ],
    ['a name with a space', file([receivers(R1).replace('name: g', 'name: "a b"')]), /name: found "a b"/],
  ])('%s is refused', (_claim, text, complaint) => {
    expect(complaints(text)).toEqual([typeof complaint === 'string' ? complaint : expect.stringMatching(complaint)]);
  });

  test('too many receivers are refused', () => {
    const many = Array.from(
      { length: 4097 },
      (_, i) => `address: 2001:db8:2::${(i + 1).toString(16)}, qpn: 9, edge: 2001:db8:f::${(i >> 5) + 1}`,
    );
    expect(complaints(file([receivers(...many)]))).toEqual([
      'groups[0].receivers: 4097 receivers are too many for one router to declare',
    ]);
    expect(load(file([receivers(...many.slice(1))])).groups![0]!.members).toHaveLength(4096);
  });
});

test('more receivers of one edge than it makes copies are refused, whether they name it or not', () => {
  const of = (count: number, edge: string): string[] =>
    Array.from({ length: count }, (_, i) => `address: 2001:db8:2::${(i + 1).toString(16)}, qpn: 9${edge}`);
  for (const [edge, sid] of [
    ['', '2001:db8:e::c1:0:0'],
    [', edge: 2001:db8:f::1', '2001:db8:f::1'],
  ] as const) {
    expect(complaints(file([receivers(...of(65, edge))]))).toEqual([
      `groups[0].receivers[64]: ${sid} makes at most 64 copies of a packet: ` +
        'name another edge, or divide the receivers among several groups',
    ]);
    expect(load(file([receivers(...of(64, edge))])).groups![0]!.members).toHaveLength(64);
  }
});

test.each([
  [
    'a router twice',
    '{ node: 2001:db8:f::1, children: [2001:db8:f::3] }, { node: 2001:db8:f::1, children: [2001:db8:f::4] }',
    'groups[0].branches[1].node: 2001:db8:f::1 is already in this list, as entry 0',
  ],
  [
    'two parents',
    '{ node: 2001:db8:f::1, children: [2001:db8:f::3] }, { node: 2001:db8:f::2, children: [2001:db8:f::3] }',
    'groups[0].branches[1].children[0]: 2001:db8:f::3 already gets its copies from 2001:db8:f::1',
  ],
  [
    'a circle',
    '{ node: 2001:db8:f::1, children: [2001:db8:f::2] }, { node: 2001:db8:f::2, children: [2001:db8:f::1] }',
    'groups[0].branches[0].node: 2001:db8:f::1 is below itself',
  ],
  [
    'no children',
    '{ node: 2001:db8:f::1, children: [] }',
    'groups[0].branches[0].children: a router makes at least one copy and at most 64, not 0',
  ],
])('branches with %s are refused', (_claim, branches, complaint) => {
  expect(complaints(file([`${receivers(R1)}, branches: [${branches}]`]))).toEqual([complaint]);
});

describe('SIDs for groups', () => {
  const sids = (endMt: string, rest = ''): string =>
    `${ROUTER}srv6: { core-ports: [eth2], end-mt: { ${endMt} }${rest} }\n`;

  test('are allocated in their locators, apart from each other and from END.CON', () => {
    const text = sids(
      'locator: 2001:db8:e::/48',
      ', end-con: [{ locator: 2001:db8:e::/48 }], replication: { locator: 2001:db8:e::/48 }',
    );
    const { endMt, replication, endCon } = load(text).srv6!;
    expect([endMt!.sid, replication!.sid, endCon[0]!.sid].map(formatAddress)).toEqual([
      '2001:db8:e::c1:0:0',
      '2001:db8:e::c2:0:0',
      '2001:db8:e::c0:0:fe',
    ]);
  });

  test.each([
    [
      'outside of its locator',
      sids('sid: 2001:db8:f::1, locator: 2001:db8:e::/48'),
      'srv6.end-mt.sid: 2001:db8:f::1 is not in its locator 2001:db8:e::/48: no router would have a route to it',
    ],
    [
      'in too long a locator',
      sids('locator: 2001:db8:e::/96'),
      'srv6.end-mt: 2001:db8:e::/96 is too long for a SID to be allocated: a SID takes 48 bits',
    ],
    [
      'that is the loopback',
      sids('sid: 2001:db8::1, locator: 2001:db8::/48'),
      'srv6.end-mt.sid: 2001:db8::1 is already router.loopback.ipv6',
    ],
    [
      'that is an END.CON SID',
      sids(
        'sid: 2001:db8:e::1, locator: 2001:db8:e::/48',
        ', end-con: [{ sid: 2001:db8:e::1, locator: 2001:db8:e::/48 }]',
      ),
      'srv6.end-mt.sid: 2001:db8:e::1 is already srv6.end-con[0].sid',
    ],
    [
      'for two purposes',
      sids(
        'sid: 2001:db8:e::1, locator: 2001:db8:e::/48',
        ', replication: { sid: 2001:db8:e::1, locator: 2001:db8:e::/48 }',
      ),
      'srv6.replication.sid: 2001:db8:e::1 is already srv6.end-mt',
    ],
  ])('a SID %s is refused', (_claim, text, complaint) => {
    expect(complaints(text)).toEqual([complaint]);
  });
});
