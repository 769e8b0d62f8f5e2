import { describe, expect, test } from 'vitest';
import type { Row } from '../../model/state.ts';
import { compareWithRemote } from './compare.ts';
import { type BgpOverview, readOverview } from './overview.ts';

const [OURS, RR] = ['2001:db8:ffff::1', '2001:db8:ffff::fe'] as const;
const PREFIX = '2001:db8:1::/64';

const session = (more: Partial<Record<string, unknown>> = {}): Row => ({
  target: '127.0.0.1:50051',
  state: 'ready',
  as: 65_001,
  'router-id': '192.0.2.1',
  reason: '',
  originated: 1,
  wanted: 1,
  ...more,
});
const sent = (more: Row = {}): Row => ({
  prefix: PREFIX,
  peer: 'local',
  'next-hop': OURS,
  'header-next-hop': OURS,
  proxy: OURS,
  'as-path': '',
  best: true,
  status: 'originated',
  ...more,
});
const arrived = (more: Row = {}): Row => ({ ...sent(), peer: RR, status: 'used', ...more });
const bare = (more: Row = {}): Row => ({
  prefix: PREFIX,
  pnc: false,
  carrier: 'bgp',
  originator: OURS,
  source: `${PREFIX} ${RR} 0`,
  ...more,
});
const own: BgpOverview = { session: [session()], peers: [], paths: [sent()], senders: [] };
const there = (paths: readonly Row[], senders: readonly Row[] = [], about: Row = {}): BgpOverview => ({
  session: [session({ 'router-id': '192.0.2.3', ...about })],
  peers: [],
  paths,
  senders,
});
const one = (remote: BgpOverview, from = own) => compareWithRemote(from, remote).paths[0]!;

describe('a path as another router has it', () => {
  test('PNC-5.4-a: intact and used', () => {
    expect(one(there([arrived()]))).toEqual({
      prefix: PREFIX,
      nextHop: OURS,
      arrival: 'used',
      toldBy: RR,
      arrivedNextHop: OURS,
    });
  });

  test('PNC-5.4-a: used, but altered: with another proxy than was sent, or without one', () => {
    const other = one(there([arrived({ proxy: '2001:db8:ffff::66' })]));
    expect(other).toMatchObject({
      arrival: 'altered',
      toldBy: RR,
      why: expect.stringContaining(`uses the proxy 2001:db8:ffff::66, this one sent ${OURS}`),
      remedy: expect.stringContaining('attribute 39'),
    });
    expect(one(there([arrived({ proxy: undefined, sids: ['2001:db8:c::1'] })]))).toMatchObject({
      arrival: 'altered',
      why: expect.stringContaining('the proxy none'),
    });
    // Also if another neighbor reports it unaltered: which of the two counts is chance.
    expect(one(there([arrived(), arrived({ peer: 'x', proxy: '2001:db8:ffff::66' })]))).toMatchObject({
      arrival: 'altered',
      toldBy: 'x',
    });
  });

  test('with other SIDs than were sent: changed on the way, or another code point there', () => {
    const sids = (...list: string[]) => ({ prefix: `${OURS}/128`, sids: list });
    const from = { ...own, paths: [sent(sids('2001:db8:c::1', '2001:db8:c::2'))] };
    expect(one(there([arrived(sids('2001:db8:c::2', '2001:db8:c::1'))]), from)).toMatchObject({ arrival: 'used' });
    for (const arrives of [sids(), sids('2001:db8:c::1', '2001:db8:c::66')]) {
      expect(one(there([arrived(arrives)]), from)).toMatchObject({
        arrival: 'altered',
        remedy: expect.stringContaining('end-con-behavior'),
      });
    }
  });

  test('with an attribute about another next hop than the route has: the router that changed it, and the line that keeps it', () => {
    const linkLocal = one(
      there([arrived({ status: 'next-hop-mismatch', 'next-hop': 'fe80::1', 'header-next-hop': 'fe80::1' })]),
    );
    expect({ why: linkLocal.why, remedy: linkLocal.remedy }).toEqual({
      why: expect.stringContaining('link-local'),
      remedy: expect.stringContaining('bgp.next-hop'),
    });
    const changed = one(there([arrived({ status: 'next-hop-mismatch', 'next-hop': RR })]));
    expect(changed).toMatchObject({
      arrival: 'not-used',
      why: `${RR} made itself the next hop; the attribute still names ${OURS}`,
    });
    expect(changed.remedy).toContain('`neighbor X attribute-unchanged next-hop`');
    expect(one(there([arrived({ status: 'next-hop-mismatch', 'next-hop': '2001:db8:ffff::77' })])).why).toContain(
      'the next hop became 2001:db8:ffff::77 on the path',
    );
  });

  test('through an AS that is not of the domain: the line for cnpd.yaml there', () => {
    expect(one(there([arrived({ status: 'outside-domain', 'as-path': '65010 65010 (65020) {65030}' })]))).toMatchObject(
      {
        arrival: 'not-used',
        remedy: expect.stringContaining('bgp.domain: [65010, 65020, 65030]'),
      },
    );
  });

  test('with an AS path that does not begin with the AS of the neighbor that sent it: which neighbor, and what to do about it', () => {
    expect(one(there([arrived({ status: 'first-as-mismatch', 'as-path': '65030' })]))).toMatchObject({
      arrival: 'not-used',
      why: expect.stringContaining(`(65030) does not begin with the AS of ${RR}`),
      remedy: expect.stringContaining(`let ${RR} prepend its own AS`),
    });
  });

  test('with a status that this cnpd does not know: it is named', () => {
    for (const status of ['from-the-future', 'constructor'])
      expect(one(there([arrived({ status })]))).toMatchObject({
        arrival: 'not-used',
        why: `status ${status}`,
        remedy: expect.stringContaining('versions'),
      });
  });

  test('with another code point: both files are named', () => {
    expect(one(there([arrived({ status: 'no-characteristic', proxy: undefined, unknown: [65_500] })]))).toMatchObject({
      arrival: 'not-used',
      why: 'the other router does not know characteristic 65500',
      remedy: expect.stringContaining('bgp-pnc-characteristic'),
    });
  });

  test('with the characteristic taken out, or a malformed attribute', () => {
    const gone = one(there([arrived({ status: 'no-characteristic', proxy: undefined, unknown: [] })]));
    expect(gone).toMatchObject({ arrival: 'altered', remedy: expect.stringContaining('send-nexthop-characteristics') });
    expect(
      one(there([arrived({ status: 'malformed', proxy: undefined, 'header-next-hop': undefined })])),
    ).toMatchObject({ arrival: 'altered', why: expect.stringContaining(RR) });
    expect(one(there([arrived({ status: 'no-senders' })]))).toMatchObject({
      arrival: 'not-used',
      why: expect.stringContaining('cannot contain a sender'),
      remedy: expect.stringContaining('proxy.senders'),
    });
    expect(one(there([arrived({ status: 'no-proxy-address', proxy: undefined })]))).toMatchObject({
      arrival: 'altered',
      remedy: expect.stringContaining('bgp-pnc-characteristic'),
    });
  });

  test('without attribute 39: the neighbor that sent it, and the line of FRR that sends the attribute', () => {
    const dropped = one(there([], [bare()]));
    expect(dropped).toMatchObject({ arrival: 'without-attribute', toldBy: RR, arrivedNextHop: OURS });
    expect(dropped.why).toBe(`${RR} sent it without attribute 39: it, or a router before it, removed the attribute`);
    expect(dropped.remedy).toContain('`neighbor X send-nexthop-characteristics`');
    expect(dropped.remedy).not.toContain('attribute-unchanged');
  });

  test('without attribute 39 and without a neighbor as its source (learn: best): the only neighbor, or all candidates', () => {
    const [neighbor, other] = [RR, '192.0.2.254'].map((address) => ({ address, state: 'established' }));
    const of = (peers: Row[]) =>
      one({ ...there([], [bare({ source: PREFIX })]), peers: [...peers, { address: '192.0.2.253', state: 'idle' }] });
    expect(of([neighbor!])).toMatchObject({
      toldBy: RR,
      why: expect.stringContaining(`${RR} sent it without attribute 39`),
    });
    expect(of([neighbor!, other!]).why).toContain(
      `one of ${RR}, 192.0.2.254 (\`gobgp global rib ${PREFIX}\` there shows which) sent it without attribute 39`,
    );
    expect(of([neighbor!, other!])).not.toHaveProperty('toldBy');
  });

  test('a path that the other gobgpd originated is not blamed on its only neighbor', () => {
    const peers = [{ address: RR, state: 'established' }];
    const unnamed = one({ ...there([], [bare({ source: PREFIX, originator: '2001:db8:ffff::77' })]), peers });
    expect(unnamed).not.toHaveProperty('toldBy');
    expect(unnamed.why).toContain(
      `${RR}, or another client of that gobgpd (\`gobgp global rib ${PREFIX}\` there shows which) ` +
        'sent it without attribute 39',
    );
    expect(one({ ...there([], [bare({ source: PREFIX, originator: RR })]), peers })).toMatchObject({ toldBy: RR });
    const local = one({
      ...there([], [bare({ source: `${PREFIX} local 0`, originator: '2001:db8:ffff::77' })]),
      peers,
    });
    expect(local).toMatchObject({
      toldBy: 'local',
      why: expect.stringContaining('to the other gobgpd itself'),
      remedy: expect.stringContaining(`\`gobgp global rib ${PREFIX}\``),
    });
  });

  test("a path that this router's own gobgpd does not prefer is not advertised: that is the reason", () => {
    expect(one(there([], [bare()]), { ...own, paths: [sent({ best: false })] })).toMatchObject({
      arrival: 'without-attribute',
      why: expect.stringContaining('own gobgpd prefers another path'),
    });
    expect(one(there([arrived()]), { ...own, paths: [sent({ best: false })] })).toMatchObject({ arrival: 'used' });
  });

  test('without attribute 39 and with another next hop: both lines', () => {
    const dropped = one(there([], [bare({ originator: RR })]));
    expect(dropped).toMatchObject({ arrival: 'without-attribute', arrivedNextHop: RR });
    expect(dropped.remedy).toMatch(/send-nexthop-characteristics.*attribute-unchanged next-hop/);
  });

  test('PNC-6-a: absent: NO_EXPORT is a reason only in another AS', () => {
    expect(one(there([]))).toMatchObject({ arrival: 'absent', remedy: expect.not.stringContaining('NO_EXPORT') });
    expect(one(there([], [], { as: 65_002 }))).toMatchObject({
      arrival: 'absent',
      remedy: expect.stringContaining('NO_EXPORT'),
    });
  });

  test("another router's path counts there, or it is a proxy of this prefix itself", () => {
    const other = { proxy: '2001:db8:ffff::9', 'next-hop': '2001:db8:ffff::9', 'header-next-hop': '2001:db8:ffff::9' };
    expect(one(there([arrived(other)]))).toMatchObject({
      arrival: 'another-path',
      why: expect.stringContaining('2001:db8:ffff::9'),
    });
    expect(one(there([sent(other)]))).toMatchObject({
      arrival: 'another-path',
      why: expect.stringContaining('itself'),
    });
    expect(one(there([arrived({ 'next-hop': RR, 'header-next-hop': RR })]))).toMatchObject({ arrival: 'another-path' });
  });

  test('of several arrivals the used one counts', () => {
    expect(one(there([arrived({ peer: 'x', status: 'outside-domain' }), arrived()]))).toMatchObject({
      arrival: 'used',
      toldBy: RR,
    });
  });

  test('a host route with SIDs only is recognized by its next hop', () => {
    const host = { prefix: `${OURS}/128`, proxy: undefined, sids: ['2001:db8:c::1'] };
    expect(one(there([arrived(host)]), { ...own, paths: [sent(host)] })).toMatchObject({ arrival: 'used' });
  });

  test('problems come first', () => {
    const paths = ['a', 'b', 'c'].map((prefix) => sent({ prefix }));
    const remote = there([
      arrived({ prefix: 'a' }),
      arrived({ prefix: 'b', status: 'outside-domain', 'as-path': '1' }),
    ]);
    expect(compareWithRemote({ ...own, paths }, remote).paths.map(({ prefix, arrival }) => [prefix, arrival])).toEqual([
      ['c', 'absent'],
      ['b', 'not-used'],
      ['a', 'used'],
    ]);
  });
});

describe('an answer that proves little', () => {
  const doubts = (from: BgpOverview, remote: BgpOverview): string =>
    compareWithRemote(from, remote)
      .doubts.map(({ code, problem }) => `${code}: ${problem}`)
      .join('\n');

  test.each([
    ['no carrier here', { ...own, session: [] }, there([]), /^here\.no-bgp: this router has no BGP carrier/],
    ['no carrier there', own, { ...there([]), session: [] }, /^there\.no-bgp: the other router has no BGP carrier/],
    [
      'a gobgpd that is away there',
      own,
      there([], [], { state: 'waiting', reason: 'ECONNREFUSED' }),
      /^there\.not-ready: .*its answer is out of date/,
    ],
    [
      'paths that are still on their way to gobgpd',
      { ...own, session: [session({ wanted: 9 })] },
      there([]),
      /^here\.on-the-way: 1 of 9 paths/,
    ],
    [
      'paths that gobgpd does not take',
      { ...own, session: [session({ wanted: 9, refusal: 'table is full' })] },
      there([]),
      /^here\.refused: .*refuses its paths \(table is full\)/,
    ],
    [
      'paths that gobgpd took and does not have',
      { ...own, session: [session({ wanted: 9, dropped: 8 })] },
      there([]),
      /^here\.dropped: .*accepted 8 of 9 paths but does not have them/,
    ],
    [
      'a gobgpd that is away here',
      { ...own, session: [session({ state: 'waiting', reason: 'gone' })] },
      there([]),
      /^here\.not-ready: .*\(gone\): its paths are not known/,
    ],
    [
      'the same router twice',
      own,
      there([], [], { 'router-id': '192.0.2.1' }),
      /^same-gobgpd: both are the same gobgpd/,
    ],
  ])('%s is reported', (_claim, from, remote, sentence) => expect(doubts(from, remote)).toMatch(sentence));

  test.each([
    ['no JSON', '{', /^not JSON/],
    ['a list', '[]', /^no JSON object/],
    ['no paths', '{"session":[],"peers":[]}', /^no list "paths"/],
    ['lists of other things', '{"session":[],"peers":[],"paths":[1],"senders":[]}', /^no list "paths" of objects/],
  ])('%s is refused, with the reason', (_claim, text, reason) => expect(readOverview(text)).toMatch(reason));

  test('rows of any contents are compared without an exception', () => {
    const values: unknown[] = [null, 7, '', {}, [], PREFIX, 'used', true];
    for (const name of [
      'prefix',
      'peer',
      'next-hop',
      'header-next-hop',
      'proxy',
      'as-path',
      'status',
      'unknown',
      'originator',
      'source',
    ]) {
      for (const value of values) {
        const remote = there([arrived({ [name]: value })], [bare({ [name]: value })]);
        expect(
          compareWithRemote({ ...own, paths: [sent({ [name]: value, status: 'originated' })] }, remote).paths,
        ).toHaveLength(1);
      }
    }
  });
});
