// The domain (decision D9): whose word counts, by the neighbor's AS first and by the AS_PATH after it.
import { describe, expect, test } from 'vitest';
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import type { AsSegment } from '../../../packet/bgp/route.ts';
import { ABOUT, AS, Agent, path } from '../content.fixture.ts';
import { markOf, MARK_KIND, MARK_OUTSIDE, MARK_OWN, strongest } from '../domain-marks.ts';
import { asPathText, distrustOf, domainOf, isOfDomain, memberAs, withDomain } from './domain.ts';

const segment = (type: AsSegment['type'], ...numbers: readonly number[]): AsSegment => ({ type, numbers });
const from = (neighborAs: number, ...asPath: readonly AsSegment[]) => path('2001:db8::2', { neighborAs, asPath });
const here = (...asPath: readonly AsSegment[]) => ({ ...from(0, ...asPath), neighbor: undefined });

describe('RFC 5065 §4: a member of the confederation', () => {
  test('is a neighbor whose path begins with its own AS in a segment of a confederation', () => {
    expect(memberAs(from(65101, segment('confed-sequence', 65101, 65102)))).toBe(65101);
    expect(memberAs(from(65101, segment('confed-set', 65101)))).toBe(65101);
  });
  test('is nobody else', () => {
    expect(memberAs(from(65101, segment('confed-sequence', 65102, 65101)))).toBeUndefined();
    expect(memberAs(from(65101, segment('sequence', 65101)))).toBeUndefined();
    expect(memberAs(from(65101))).toBeUndefined();
    expect(memberAs(from(0, segment('confed-sequence', 0)))).toBeUndefined();
    expect(memberAs({ ...here(segment('confed-sequence', 65101)), neighborAs: 65101 })).toBeUndefined();
  });
});

describe('what is not believed', () => {
  const distrust = (one: ReturnType<typeof path>) => distrustOf(one, AS, new Set([65002]));
  test('RFC 4271 §6.3: of a neighbor in another AS a path that does not begin with it, an empty one too', () => {
    expect(distrust(from(65002))).toBe('first-as-mismatch');
    expect(distrust(from(65002, segment('sequence', 65002)))).toBeUndefined();
    expect(distrust(from(65002, segment('set', 65002)))).toBe('first-as-mismatch');
  });
  test('of a neighbor outside anything, an empty path too', () => expect(distrust(from(7))).toBe('outside-domain'));
  test('of a confederation’s member a path whose first segment has no order', () => {
    expect(distrust(from(65101, segment('confed-sequence', 65101)))).toBeUndefined();
    expect(distrust(from(65101, segment('confed-set', 65101)))).toBe('first-as-mismatch');
  });
});

describe('neighbors of the domain', () => {
  const domain = { ownAs: AS, domain: new Set([65002]), members: new Set([65101]) };
  const peer = (as: number): BgpPeerState => ({
    address: '192.0.2.1',
    as,
    state: 'established',
    families: [],
    received: 0,
    advertised: 0,
  });

  test('are those of gobgpd’s own AS, of one that is declared, and members; AS 0 is reserved', () => {
    expect([AS, 65002, 65101, 7].map((as) => isOfDomain(as, domain))).toEqual([true, true, true, false]);
    expect(isOfDomain(0, { ...domain, ownAs: 0 })).toBe(false);
  });

  test('are named as such once it is known who gobgpd is, and who they are', () => {
    expect(withDomain(peer(65002), domain)).toEqual({ ...peer(65002), inDomain: true });
    expect(withDomain(peer(7), domain)).toEqual({ ...peer(7), inDomain: false });
    expect(withDomain(peer(0), domain)).toEqual(peer(0));
    expect(withDomain(peer(65002), undefined)).toEqual(peer(65002));
  });

  test('members are those that are declared and those that have shown it', () => {
    const { content } = new Agent({ domain: new Set([65002]), confederation: new Set([65100]) });
    expect(domainOf(content)).toBeUndefined();
    content.session.about = ABOUT;
    content.learning.members = new Set([65101]);
    expect(domainOf(content)).toEqual({ ownAs: AS, domain: new Set([65002]), members: new Set([65100, 65101]) });
  });
});

test('AS_PATH as routers show it', () =>
  expect(
    asPathText([
      segment('sequence', 1, 2),
      segment('set', 3, 4),
      segment('confed-sequence', 5, 6),
      segment('confed-set', 7, 8),
    ]),
  ).toBe('1 2 {3,4} (5 6) [7,8]'));

test('marks: of several the one that came from outside counts', () => {
  const marks = [undefined, 'own', 'outside'] as const;
  expect(marks.map((a) => marks.map((b) => strongest(a, b)))).toEqual([
    [undefined, 'own', 'outside'],
    ['own', 'own', 'outside'],
    ['outside', 'outside', 'outside'],
  ]);
  expect([MARK_OWN, MARK_OUTSIDE, 3].map((what) => markOf(MARK_KIND, what))).toEqual(['own', 'outside', undefined]);
  expect(markOf(1, MARK_OWN)).toBeUndefined();
});
