// What can go wrong in an exchange, and authentication: packets that a real neighbor sends are made by hand.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { opaqueLsId } from '../../../packet/ospf/lsa-type.ts';
import type { AuthenticationKey } from '../../../packet/ospf/digest.ts';
import { OPTION_V2 } from '../../../packet/ospf/numbers.ts';
import type { DatabaseDescription, LsaHeader } from '../../../packet/ospf/types.ts';
import { AREA, type Body, Link, Router, VERSIONS, testConfig } from '../simulation.fixture.ts';
import { neighborState } from '../show.ts';
import type { AreaConfig } from '../state.ts';
import { OSPFV2, type OspfVersion } from '../version.ts';

const A = 0x01010101;
const B = 0x02020202;
const secret = new TextEncoder().encode('s3cret');

function pair(
  version: OspfVersion,
  forA: Partial<AreaConfig> = {},
  forB: Partial<AreaConfig> = forA,
): { a: Router; b: Router; link: Link } {
  const a = new Router(testConfig(A, version, forA));
  const b = new Router(testConfig(B, version, forB));
  return { a, b, link: new Link(a, b) };
}

const description = (rest: Partial<DatabaseDescription>, version: OspfVersion): Body<DatabaseDescription> => ({
  kind: 'database-description',
  mtu: 1500,
  options: version.exchangeOptions(false),
  initialize: false,
  more: false,
  master: true,
  sequence: 0,
  headers: [],
  ...rest,
});

/** What is shown of a link without a neighbor. */
const reason = (router: Router): string =>
  neighborState(router.speaker, router.area, 'cnpd-ospf0', 0, { now: 0, toWall: 0 }).reason;

describe.each(VERSIONS)('%s', (_name, version) => {
  const header = (rest: Partial<LsaHeader>): LsaHeader => ({
    age: 1,
    options: 0,
    type: version.version === 2 ? 10 : 0xa023,
    lsId: opaqueLsId(7, 1),
    advertisingRouter: B,
    sequence: 1,
    checksum: 1,
    length: 36,
    ...rest,
  });

  test('a description out of sequence begins the exchange anew, and it succeeds', () => {
    const { a, b, link } = pair(version);
    link.until('full', () => a.state === 'full' && b.state === 'full');
    link.hand(0, description({ sequence: 999 }, version));
    expect(a.count('neighbor.sequence-number-mismatch')).toBe(1);
    expect(a.state).toBe('ex-start');
    link.until('full again', () => a.state === 'full' && b.state === 'full');
  });

  test.each([
    ['the same', 0, 0, 'exchange'],
    ['changed', 0x20, 1, 'ex-start'],
  ] as const)('options that are %s within an exchange', (_how, bits, mismatches, state) => {
    const { a, link } = pair(version);
    link.until('full', () => a.state === 'full');
    link.weather = () => [];
    const neighbor = a.area.neighbor!;
    neighbor.state = 'exchange';
    neighbor.weAreMaster = false;
    const { ddSequence, options } = neighbor;
    link.hand(0, description({ sequence: ddSequence + 1, options: options ^ bits, more: true }, version));
    expect({ neighborSequenceNumberMismatch: a.count('neighbor.sequence-number-mismatch'), state: a.state }).toEqual({
      neighborSequenceNumberMismatch: mismatches,
      state,
    });
  });

  test.each<
    [
      string,
      (last: Pick<DatabaseDescription, 'options' | 'initialize' | 'more' | 'master'>) => Partial<DatabaseDescription>,
    ]
  >([
    ['other options', ({ options }) => ({ options: options ^ 0x20 })],
    ['another I-bit', ({ initialize }) => ({ initialize: !initialize })],
    ['another M-bit', ({ more }) => ({ more: !more })],
    ['another MS-bit', ({ master }) => ({ master: !master })],
  ])('a description that came before, but with %s, is no duplicate (RFC 2328 §10.6)', (_what, differs) => {
    const { a, link } = pair(version);
    link.until('full', () => a.state === 'full');
    const last = a.area.neighbor!.lastReceived!;
    const again = { ...last, headers: [] };
    link.hand(0, description(again, version));
    expect(a.state).toBe('full');
    expect(a.count('exchange.duplicate')).toBeGreaterThan(0);
    link.hand(0, description({ ...again, ...differs(last) }, version));
    expect({ neighborSequenceNumberMismatch: a.count('neighbor.sequence-number-mismatch'), state: a.state }).toEqual({
      neighborSequenceNumberMismatch: 1,
      state: 'ex-start',
    });
  });

  /** In ExStart, as master with number 500, before anything was agreed. */
  function negotiating(self: number, other: number): { a: Router; say: (rest: Partial<DatabaseDescription>) => void } {
    const a = new Router(testConfig(self, version));
    const link = new Link(a, new Router(testConfig(other, version)));
    link.until('full', () => a.state === 'full');
    link.weather = () => [];
    Object.assign(a.area.neighbor!, { state: 'ex-start', ddSequence: 500, weAreMaster: true, lastReceived: undefined });
    return { a, say: (rest) => link.hand(0, description(rest, version)) };
  }
  const CLAIM = { initialize: true, more: true, master: true, sequence: 9000 };
  const AGREES = { initialize: false, more: false, master: false, sequence: 500 };

  test('a neighbor with the higher router ID is master by its claim, and its number counts (RFC 2328 §10.6)', () => {
    const { a, say } = negotiating(A, B);
    say(CLAIM);
    expect({
      state: a.state,
      weAreMaster: a.area.neighbor!.weAreMaster,
      ddSequence: a.area.neighbor!.ddSequence,
    }).toEqual({ state: 'exchange', weAreMaster: false, ddSequence: 9000 });
  });

  test('one with the lower agrees by our number, and we stay master', () => {
    const { a, say } = negotiating(B, A);
    say({ ...AGREES, more: true });
    expect({
      state: a.state,
      weAreMaster: a.area.neighbor!.weAreMaster,
      ddSequence: a.area.neighbor!.ddSequence,
    }).toEqual({ state: 'exchange', weAreMaster: true, ddSequence: 501 });
  });

  test.each<[string, number, number, Partial<DatabaseDescription>]>([
    ['a claim without the I-bit', A, B, { ...CLAIM, initialize: false }],
    ['a claim without the M-bit', A, B, { ...CLAIM, more: false }],
    ['a claim without the MS-bit', A, B, { ...CLAIM, master: false }],
    ['a claim with contents', A, B, { ...CLAIM, headers: [header({})] }],
    ['the claim of a router with a lower ID', B, A, CLAIM],
    ['the agreement of a router with a higher ID', A, B, AGREES],
    ['an agreement with the I-bit', B, A, { ...AGREES, initialize: true }],
    ['an agreement with the MS-bit', B, A, { ...AGREES, master: true }],
    ['an agreement to another number', B, A, { ...AGREES, sequence: 501 }],
  ])('in ExStart %s agrees to nothing', (_what, self, other, rest) => {
    const { a, say } = negotiating(self, other);
    const before = a.count('exchange.not-agreed');
    say(rest);
    expect({
      state: a.state,
      exchangeNotAgreed: a.count('exchange.not-agreed') - before,
      ddSequence: a.area.neighbor!.ddSequence,
    }).toEqual({ state: 'ex-start', exchangeNotAgreed: 1, ddSequence: 500 });
  });

  test.each<[string, boolean, Partial<DatabaseDescription>, string]>([
    ['from the master, the next number', false, { master: true, sequence: 501 }, 'exchange'],
    ['from the master, our own number', false, { master: true, sequence: 500 }, 'ex-start'],
    ['from the master, a number left out', false, { master: true, sequence: 502 }, 'ex-start'],
    ['from the slave, our number', true, { master: false, sequence: 500 }, 'exchange'],
    ['from the slave, the next number', true, { master: false, sequence: 501 }, 'ex-start'],
    ['a second master', true, { master: true, sequence: 500 }, 'ex-start'],
    ['a second slave', false, { master: false, sequence: 501 }, 'ex-start'],
    ['the I-bit', false, { master: true, sequence: 501, initialize: true }, 'ex-start'],
  ])('in Exchange %s', (_what, weAreMaster, rest, state) => {
    const { a, say } = negotiating(A, B);
    const options = version.exchangeOptions(false);
    Object.assign(a.area.neighbor!, { state: 'exchange', weAreMaster, options });
    say({ more: true, ...rest });
    expect({ state: a.state, neighborSequenceNumberMismatch: a.count('neighbor.sequence-number-mismatch') }).toEqual({
      state,
      neighborSequenceNumberMismatch: state === 'exchange' ? 0 : 1,
    });
  });

  test('repeated failures are met with growing pauses: no loop', () => {
    const { a, link } = pair(version);
    link.until('full', () => a.state === 'full');
    link.weather = (packet) => (packet?.kind === 'hello' ? [1] : []);
    const from = link.sent.length;
    const pauses: number[] = [];
    for (let i = 0; i < 6; i++) {
      a.area.neighbor!.state = 'exchange';
      link.hand(0, description({ sequence: 12345 + i, master: false, initialize: true }, version));
      pauses.push(Math.max(0, a.area.neighbor!.exchangeFrom - link.now));
    }
    expect(pauses).toEqual([0, 1000, 2000, 4000, 8000, 16000]);
    link.run(16_000);
    expect(
      link.sent.slice(from).filter((s) => s.from === 0 && s.packet?.kind === 'database-description').length,
    ).toBeLessThan(4);
  });

  test('a request for an LSA that we do not have begins the exchange anew', () => {
    const { a, b, link } = pair(version);
    link.until('full', () => a.state === 'full' && b.state === 'full');
    link.hand(0, { kind: 'link-state-request', requests: [header({ lsId: 0x12345678 })] });
    expect(a.count('neighbor.bad-request')).toBe(1);
    link.until('full again', () => a.state === 'full' && b.state === 'full');
  });

  test('the state of a neighbor in a disagreement about the MTU shows what it takes, not that it takes nothing', () => {
    const { a, link } = pair(version, { mtu: 1400 }, {});
    link.run(20_000);
    const shown = neighborState(a.speaker, a.area, 'cnpd-ospf0', 0, { now: link.now, toWall: 0 });
    expect(shown).toMatchObject({ state: 'ex-start', mtu: 1500, takesOpaque: true });
  });

  test('a neighbor that restarts with a larger MTU, and lists us at once, is adjacent no more', () => {
    const { a, b, link } = pair(version);
    link.until('full', () => a.state === 'full' && b.state === 'full');
    link.weather = () => [];
    link.hand(0, description({ mtu: 9000 }, version));
    expect(a.state).toBe('full');
    link.hand(0, description({ mtu: 9000, initialize: true, more: true, sequence: 7 }, version));
    expect([a.state, a.area.neighbor!.mtu, a.count('exchange.mtu-mismatch')]).toEqual(['ex-start', 9000, 2]);
  });

  test('a described LSA that is never sent keeps us in Loading, asking every 5 s, until the neighbor restarts', () => {
    const { a, b, link } = pair(version);
    link.weather = () => [];
    link.event(1, {
      type: 'originate',
      areaId: AREA,
      lsas: [{ type: header({}).type, lsId: header({}).lsId, body: { kind: 'unknown', content: new Uint8Array(4) } }],
    });
    link.run(1000);
    link.weather = (packet) => (packet?.kind === 'link-state-update' ? [] : [1]);
    link.run(25_000);
    expect(a.state).toBe('loading');
    expect(a.count('tx.retransmitted-request')).toBeGreaterThanOrEqual(2);
    expect(a.count('tx.retransmitted-request')).toBeLessThanOrEqual(5);
    expect(a.count('neighbor.bad-request')).toBe(0);
    link.weather = () => [1];
    link.until('full', () => a.state === 'full' && b.state === 'full');
  });

  test('an older instance is answered with ours, at most once a second', () => {
    const { a, b, link } = pair(version);
    link.event(0, {
      type: 'originate',
      areaId: AREA,
      lsas: [{ type: header({}).type, lsId: header({}).lsId, body: { kind: 'unknown', content: new Uint8Array(4) } }],
    });
    link.until('full', () => a.state === 'full' && b.state === 'full');
    link.run(7000);
    const key = `${header({}).type}/${header({}).lsId}/${A}`;
    const old = a.area.lsdb.byKey.get(key)!;
    const older = { ...old, raw: new Uint8Array(old.raw) };
    link.event(0, {
      type: 'originate',
      areaId: AREA,
      lsas: [{ type: older.type, lsId: older.lsId, body: { kind: 'unknown', content: new Uint8Array(8) } }],
    });
    link.run(3000);
    const updates = (): number => a.count('tx.link-state-update');
    const before = updates();
    for (let i = 0; i < 3; i++) link.hand(0, { kind: 'link-state-update', lsas: [older] });
    expect(updates() - before).toBe(1);
    expect(a.count('lsa.older-again')).toBe(2);
    link.run(1500);
    link.hand(0, { kind: 'link-state-update', lsas: [older] });
    expect(updates() - before).toBe(2);
  });

  test('an LSA at MaxAge that no neighbor has is acknowledged at once and not kept', () => {
    const { a, b, link } = pair(version);
    link.until('full', () => a.state === 'full' && b.state === 'full');
    link.event(1, {
      type: 'originate',
      areaId: AREA,
      lsas: [{ type: header({}).type, lsId: 5, body: { kind: 'unknown', content: new Uint8Array(4) } }],
    });
    link.weather = () => [];
    link.run(1000);
    const lsa = b.area.lsdb.byKey.get(`${header({}).type}/5/${B}`)!;
    const raw = new Uint8Array(lsa.raw);
    raw.set([3600 >> 8, 3600 & 255]);
    link.weather = () => [1];
    const before = a.count('tx.link-state-acknowledgment');
    link.hand(0, { kind: 'link-state-update', lsas: [{ ...lsa, age: 3600, raw }] });
    expect(a.count('tx.link-state-acknowledgment') - before).toBe(1);
    expect(a.area.lsdb.byKey.has(lsa.key)).toBe(false);
  });

  const algorithm = version.version === 2 ? ('md5' as const) : ('hmac-sha-256' as const);
  const key = (
    id: number,
    algorithmName: AuthenticationKey['algorithm'] = algorithm,
    text = secret,
  ): AuthenticationKey => ({ id, algorithm: algorithmName, secret: text });

  test.each(['hmac-sha-1', 'hmac-sha-512', algorithm] as const)(
    'authenticated with %s it comes to Full; packets leave room for the digest',
    (name) => {
      const { a, b, link } = pair(version, { keys: [key(1, name)] });
      let largest = 0;
      link.weather = (_packet, _from, payload) => {
        largest = Math.max(largest, payload.length);
        return [1];
      };
      const lsas = Array.from({ length: 100 }, (_, n) => ({
        type: header({}).type,
        lsId: opaqueLsId(99, n),
        body: { kind: 'unknown' as const, content: new Uint8Array(200) },
      }));
      link.event(0, {
        type: 'originate',
        areaId: AREA,
        lsas: version.version === 2 ? lsas : lsas.map((l, n) => ({ ...l, type: 0xa07b, lsId: n })),
      });
      link.until('full', () => a.state === 'full' && b.state === 'full' && b.notified.size > 100);
      expect(largest).toBeLessThanOrEqual(1500 - version.ipHeader);
    },
  );

  test('a wrong key, a missing one and an unexpected one keep the adjacency from coming up, each with its own counter', () => {
    const wrong = pair(version, { keys: [key(1)] }, { keys: [key(1, algorithm, new TextEncoder().encode('other'))] });
    wrong.link.run(20_000);
    expect(reason(wrong.a)).toBe('a packet was refused: authentication wrong');
    expect(wrong.a.state).toBe('none');
    expect(wrong.a.count('authentication.wrong')).toBeGreaterThan(0);
    const unknown = pair(version, { keys: [key(1)] }, { keys: [key(2)] });
    unknown.link.run(20_000);
    expect(unknown.a.state).toBe('none');
    expect(unknown.a.count('authentication.unknown-key')).toBeGreaterThan(0);
    const missing = pair(version, { keys: [key(1)] }, {});
    missing.link.run(20_000);
    expect(missing.a.state).toBe('none');
    expect(missing.a.count('authentication.missing')).toBeGreaterThan(0);
    expect(missing.b.count('authentication.not-configured')).toBeGreaterThan(0);
    expect([missing.a, missing.b].map(reason)).toEqual([
      'a packet was refused: authentication missing',
      'a packet was refused: it is authenticated, but no key is configured',
    ]);
    expect(missing.b.count('packet.bad-checksum')).toBe(0);
  });

  test('a second key is accepted while keys are changed', () => {
    const { a, b, link } = pair(version, { keys: [key(2), key(1)] }, { keys: [key(1), key(2)] });
    link.until('full', () => a.state === 'full' && b.state === 'full');
  });

  test('keys change in flight, an end after the other: no adjacency is lost, no exchange begins anew', () => {
    const [one, two] = [key(1), key(2)];
    const { a, b, link } = pair(version, { keys: [one] });
    link.event(0, {
      type: 'originate',
      areaId: AREA,
      lsas: [{ type: header({}).type, lsId: 1, body: { kind: 'unknown', content: new Uint8Array(4) } }],
    });
    link.until('full', () => a.state === 'full' && b.state === 'full');
    const since = [a, b].map(({ area }) => area.neighbor!.since);
    for (const keys of [[one, two], [two, one], [two]]) {
      for (const end of [0, 1] as const) {
        link.event(end, { type: 'keys', areaId: AREA, keys });
        link.run(50_000);
      }
    }
    expect([a, b].map(({ area }) => [area.neighbor?.state, area.neighbor?.since])).toEqual(
      since.map((at) => ['full', at]),
    );
    expect({ aKeys: a.area.config.keys, bKeys: b.area.config.keys }).toEqual({ aKeys: [two], bKeys: [two] });
    expect([a, b].map((router) => router.count('authentication.unknown-key') + router.count('own.withdrawn'))).toEqual([
      0, 0,
    ]);
    link.event(0, { type: 'keys', areaId: AREA, keys: [one] });
    link.run(60_000);
    expect({ aState: a.state, bState: b.state }).toEqual({ aState: 'none', bState: 'none' });
  });

  test('a run that begins a second after a burst of packets still has the higher sequence number', () => {
    const config = testConfig(A, version, { keys: [key(1)] });
    const a = new Router(config);
    const link = new Link(a, new Router(testConfig(B, version)));
    for (let i = 0; i < 1000; i++) link.up(0);
    const again = link.restart(0, { ...config, authenticationBase: config.authenticationBase + 10 });
    expect(again.speaker.authenticationSequence).toBeGreaterThan(a.speaker.authenticationSequence);
  });

  test('sequence numbers do not wrap within a hundred years of 2020', () => {
    const after = (years: number): bigint => {
      const config = testConfig(A, version, { keys: [key(1)] }, { authenticationBase: years * 365 * 86_400 * 10 });
      const [a, b] = [new Router(config), new Router({ ...config, routerId: B })];
      const link = new Link(a, b);
      link.until('full', () => a.state === 'full' && b.state === 'full');
      const [sequence] = [...a.area.neighbor!.authenticationSequences.values()];
      return sequence!;
    };
    const numbers = [6, 13, 14, 100].map(after);
    expect(numbers).toEqual(numbers.toSorted((x, y) => (x < y ? -1 : 1)));
    expect(numbers[0]).toBeGreaterThan(100_000_000n);
  });

  test('a replayed packet is dropped and counted', () => {
    const replayed: Uint8Array[] = [];
    const { a, b, link } = pair(version, { keys: [key(1)] });
    link.weather = (packet, from, payload) => {
      if (from === 1 && packet?.kind === 'hello' && replayed.length === 0) replayed.push(payload.slice());
      return [1];
    };
    link.run(15_000);
    expect({ aState: a.state, bState: b.state }).toEqual({ aState: 'full', bState: 'full' });
    const ends = version.version === 2 ? ['10.0.0.1', '10.0.0.2'] : ['fe80::1', 'fe80::2'];
    link.event(0, {
      type: 'received',
      areaId: AREA,
      payload: replayed[0]!,
      addresses: { source: address(ends[1]!), destination: version.destination },
    });
    link.run(0);
    expect(a.count('authentication.replayed')).toBe(1);
    expect(a.state).toBe('full');
  });
});

describe('opaque LSAs (RFC 5250)', () => {
  const WITHOUT: OspfVersion = { ...OSPFV2, exchangeOptions: () => OPTION_V2.external };

  test('are not offered to a neighbor without the O-bit, which is reported; the rest is exchanged without a loop', () => {
    const a = new Router(testConfig(A, OSPFV2));
    const b = new Router(testConfig(B, WITHOUT));
    const link = new Link(a, b);
    const offered: number[] = [];
    link.weather = (packet, from) => {
      if (from === 0 && packet && 'headers' in packet) offered.push(...packet.headers.map(({ type }) => type));
      if (from === 0 && packet?.kind === 'link-state-update') offered.push(...packet.lsas.map(({ type }) => type));
      return [1];
    };
    link.event(0, {
      type: 'originate',
      areaId: AREA,
      lsas: [{ type: 10, lsId: opaqueLsId(7, 1), body: { kind: 'extended-prefix-lsa', tlvs: [] } }],
    });
    link.run(30_000);
    expect({ aState: a.state, bState: b.state }).toEqual({ aState: 'full', bState: 'full' });
    expect(a.count('neighbor.no-opaque')).toBe(1);
    expect(new Set(offered)).toEqual(new Set([1]));
    expect(link.sent.length).toBeLessThan(60);
  });
});
