// What an exchange and the flooding after it do when the other end does not answer, lists other versions, or is
// notified of LSAs that age.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { opaqueLsId } from '../../../packet/ospf/lsa-type.ts';
import { encodePacket } from '../../../packet/ospf/packet.ts';
import type { DatabaseDescription, LsaHeader } from '../../../packet/ospf/types.ts';
import { type StoredLsa, headerOf } from '../lsdb/lsdb.ts';
import { AREA, FAIR, Link, Router, VERSIONS, testConfig } from '../simulation.fixture.ts';
import type { OspfVersion, OwnLsa } from '../version.ts';

const A = 0x01010101;
const B = 0x02020202;

describe.each(VERSIONS)('%s', (_name, version) => {
  const type = version.version === 2 ? 10 : 0xa023;
  const lsaOf = (n: number, bytes = 4): OwnLsa => ({
    type,
    lsId: opaqueLsId(99, n),
    body: { kind: 'unknown', content: new Uint8Array(bytes) },
  });
  const keyOf = (n: number): string => `${type}/${opaqueLsId(99, n)}/${A}`;

  const pair = (): { a: Router; b: Router; link: Link } => {
    const [a, b] = [new Router(testConfig(A, version)), new Router(testConfig(B, version))];
    return { a, b, link: new Link(a, b) };
  };
  const full = (lsas: OwnLsa[] = []): ReturnType<typeof pair> => {
    const scene = pair();
    scene.link.event(0, { type: 'originate', areaId: AREA, lsas });
    scene.link.until('full', () => scene.a.state === 'full' && scene.b.state === 'full');
    scene.link.run(10_000);
    return scene;
  };
  /** B, as master of an exchange, lists this LSA; nothing more is heard of it. */
  const list = ({ area: { neighbor } }: Router, link: Link, header: LsaHeader): void => {
    link.weather = () => [];
    Object.assign(neighbor!, { state: 'exchange', weAreMaster: false });
    const { options, ddSequence } = neighbor!;
    link.hand(0, {
      kind: 'database-description',
      mtu: 1500,
      options,
      initialize: false,
      more: true,
      master: true,
      sequence: ddSequence + 1,
      headers: [header],
    });
  };
  const descriptions = (link: Link, from: 0 | 1): { at: number; dd: DatabaseDescription }[] =>
    link.sent.flatMap(({ at, from: who, packet }) =>
      who === from && packet?.kind === 'database-description' ? [{ at, dd: packet }] : [],
    );

  describe('the exchange', () => {
    test('a claim to be master that is not answered is repeated every 5 s, the same', () => {
      const { link } = pair();
      link.weather = (packet) => (packet?.kind === 'database-description' ? [] : [1]);
      link.run(21_000);
      const claims = descriptions(link, 0);
      expect(claims).toHaveLength(5);
      for (const { dd } of claims)
        expect(dd).toMatchObject({
          initialize: true,
          more: true,
          master: true,
          headers: [],
          sequence: claims[0]!.dd.sequence,
        });
      expect(claims.slice(1).map(({ at }, i) => at - claims[i]!.at)).toEqual([5000, 5000, 5000, 5000]);
    });

    test('a slave that hears nothing of the master for RouterDeadInterval restarts the exchange, and both are Full again', () => {
      const { a, b, link } = full([lsaOf(1)]);
      // A late copy of an old claim has made A the slave of an exchange that B, its master, has ended.
      Object.assign(a.area.neighbor!, { state: 'ex-start', lastSent: undefined });
      link.weather = (packet, from) => (from === 0 && packet?.kind === 'database-description' ? [] : [1]);
      const { options, ddSequence } = b.area.neighbor!;
      const claim = { initialize: true, more: true, master: true, sequence: ddSequence - 9, headers: [] };
      link.hand(0, { kind: 'database-description', mtu: 1500, options, ...claim });
      link.weather = FAIR;
      link.run(39_000);
      expect({ a: a.state, b: b.state, abandoned: a.count('exchange.abandoned') }).toEqual({
        a: 'exchange',
        b: 'full',
        abandoned: 0,
      });
      link.until('full', () => a.state === 'full' && b.state === 'full', 30_000);
      expect(a.count('exchange.abandoned')).toBe(1);
    });

    test('the master repeats its description until it is answered, the slave repeats its answer when asked again', () => {
      const scene = pair();
      const { a, b, link } = scene;
      // Of the slave, which is A, every answer with contents is lost twice.
      let lost = 0;
      link.weather = (packet, from) =>
        packet?.kind === 'database-description' && from === 0 && !packet.initialize && lost++ < 2 ? [] : [1];
      link.run(14_000);
      expect({
        aState: a.state,
        bState: b.state,
        txRetransmittedDescription: b.count('tx.retransmitted-description'),
        exchangeDuplicate: a.count('exchange.duplicate'),
      }).toEqual({ aState: 'full', bState: 'full', txRetransmittedDescription: 2, exchangeDuplicate: 2 });
      const answers = descriptions(link, 0).filter(({ dd }) => !dd.initialize);
      expect(new Set(answers.slice(0, 3).map(({ dd }) => JSON.stringify(dd))).size).toBe(1);
      const options = link.sent
        .filter(({ packet }) => packet?.kind === 'database-description')
        .map(({ packet }) => (packet as DatabaseDescription).options);
      expect(new Set(options)).toEqual(new Set([version.exchangeOptions(false)]));
    });

    test('begins with a number that depends on the run, and anew with the next one', () => {
      const firsts = [1, 2, 3].map((seed) => {
        const a = new Router(testConfig(A, version, {}, { seed }));
        const link = new Link(a, new Router(testConfig(B, version)));
        link.run(100);
        return descriptions(link, 0)[0]!.dd.sequence;
      });
      expect(new Set(firsts).size).toBe(3);
      expect(Math.min(...firsts)).toBeGreaterThan(1000);
      expect(Math.max(...firsts)).toBeLessThan(2 ** 31);
      const { a, link } = pair();
      link.weather = (packet) => (packet?.kind === 'database-description' ? [] : [1]);
      link.run(100);
      const { dd } = descriptions(link, 0)[0]!;
      link.event(0, { type: 'link-down', areaId: AREA, reason: 'test' });
      link.up(0);
      link.run(11_000);
      expect(a.area.neighbor!.ddSequence).not.toBe(dd.sequence);
    });

    test.runIf(version.version === 2)(
      'a description of a type that does not exist begins it anew (RFC 2328 §10.6)',
      () => {
        const { a, link } = full();
        const header: LsaHeader = {
          age: 1,
          options: 0,
          type: 12,
          lsId: 1,
          advertisingRouter: B,
          sequence: 1,
          checksum: 1,
          length: 36,
        };
        list(a, link, header);
        expect({
          state: a.state,
          neighborSequenceNumberMismatch: a.count('neighbor.sequence-number-mismatch'),
        }).toEqual({ state: 'ex-start', neighborSequenceNumberMismatch: 1 });
      },
    );

    test.each<[string, (own: LsaHeader) => Partial<LsaHeader>, number]>([
      [
        'with the same number and a lower checksum: outbid, because an ospfd would not ask for ours',
        ({ checksum }) => ({ checksum: checksum - 1 }),
        1,
      ],
      ['with a lower number: ours is newer, and asked for', ({ sequence }) => ({ sequence: sequence - 1 }), 0],
      ['that is the same: nothing', () => ({}), 0],
    ])('the neighbor lists an LSA of ours %s', (_what, differs, outbids) => {
      const { a, link } = full([lsaOf(1)]);
      const header = headerOf(a.area.lsdb.byKey.get(keyOf(1))!, link.now);
      list(a, link, { ...header, ...differs(header) });
      link.run(2000);
      expect({
        ownOutbid: a.count('own.outbid'),
        sequence: a.area.lsdb.byKey.get(keyOf(1))!.sequence - header.sequence,
      }).toEqual({ ownOutbid: outbids, sequence: outbids });
    });

    test('of an LSA that we do not want and that an earlier run left nothing is outbid', () => {
      const { a, link } = full([lsaOf(1)]);
      const stored = a.area.lsdb.byKey.get(keyOf(1))!;
      link.event(0, { type: 'originate', areaId: AREA, lsas: [] });
      const header = headerOf(stored, link.now);
      list(a, link, { ...header, checksum: header.checksum - 1 });
      expect(a.count('own.outbid')).toBe(0);
    });

    test('an LSA at MaxAge is flooded and not described (RFC 2328 §10.3)', () => {
      const { a, link } = full([lsaOf(1), lsaOf(2)]);
      link.weather = () => [];
      link.event(0, { type: 'originate', areaId: AREA, lsas: [lsaOf(2)] });
      link.run(1000);
      expect(a.area.lsdb.byKey.get(keyOf(1))!.age).toBe(3600);
      link.weather = FAIR;
      const from = link.sent.length;
      const b = link.restart(1);
      link.until('full again', () => a.state === 'full' && b.state === 'full');
      const described = link.sent
        .slice(from)
        .flatMap(({ from: who, packet }) =>
          who === 0 && packet?.kind === 'database-description' ? packet.headers : [],
        );
      expect(described.map(({ lsId }) => lsId)).toContain(opaqueLsId(99, 2));
      expect(described.map(({ lsId }) => lsId)).not.toContain(opaqueLsId(99, 1));
    });
  });

  describe('flooding', () => {
    test('an LSA is sent every 5 s until it is acknowledged; the acknowledgement of another instance is none', () => {
      const { a, b, link } = full([lsaOf(1)]);
      const old = headerOf(a.area.lsdb.byKey.get(keyOf(1))!, link.now);
      link.weather = (_packet, from) => (from === 0 ? [1] : []);
      const from = link.sent.length;
      link.event(0, { type: 'originate', areaId: AREA, lsas: [lsaOf(1, 8)] });
      link.run(1000);
      link.hand(0, { kind: 'link-state-acknowledgment', headers: [old] });
      expect(a.count('acknowledgment.other-instance')).toBe(1);
      link.run(15_000);
      const updates = link.sent
        .slice(from)
        .filter(({ from: who, packet }) => who === 0 && packet?.kind === 'link-state-update');
      expect(updates).toHaveLength(4);
      expect(updates.slice(1).map(({ at }, i) => at - updates[i]!.at)).toEqual([5000, 5000, 5000]);
      link.hand(0, {
        kind: 'link-state-acknowledgment',
        headers: [headerOf(b.area.lsdb.byKey.get(keyOf(1))!, link.now)],
      });
      link.run(15_000);
      expect(
        link.sent.slice(from).filter(({ from: who, packet }) => who === 0 && packet?.kind === 'link-state-update'),
      ).toHaveLength(4);
    });

    test('an LSA ages by a second on its way over the link (InfTransDelay)', () => {
      const { a, link } = full([lsaOf(1)]);
      const from = link.sent.length;
      link.hand(0, { kind: 'link-state-request', requests: [a.area.lsdb.byKey.get(keyOf(1))!] });
      const [update] = link.sent
        .slice(from)
        .flatMap(({ packet }) => (packet?.kind === 'link-state-update' ? packet.lsas : []));
      const [seconds] = [Math.floor((link.now - a.area.lsdb.byKey.get(keyOf(1))!.installedAt) / 1000)];
      expect(update!.age).toBe(seconds + 1);
    });

    test('what comes twice is acknowledged at once, what is new within 200 ms', () => {
      const { a, b, link } = full();
      link.weather = (packet, from) => (from === 1 && packet?.kind === 'link-state-update' ? [] : [1]);
      link.event(1, { type: 'originate', areaId: AREA, lsas: [lsaOf(1)] });
      link.run(100);
      const lsa = b.area.lsdb.byKey.get(`${type}/${opaqueLsId(99, 1)}/${B}`) as StoredLsa;
      link.weather = () => [];
      const acks = (): number => a.count('tx.link-state-acknowledgment');
      const before = acks();
      link.hand(0, { kind: 'link-state-update', lsas: [lsa] });
      expect(acks()).toBe(before);
      link.run(199);
      expect(acks()).toBe(before);
      link.run(1);
      expect(acks()).toBe(before + 1);
      link.hand(0, { kind: 'link-state-update', lsas: [lsa] });
      expect(acks()).toBe(before + 2);
    });
  });

  test.each<[string, (payload: Uint8Array) => Uint8Array]>([
    ['truncated', (payload) => payload.subarray(0, 12)],
    ['damaged on its way', (payload) => payload.with(payload.length - 1, payload.at(-1)! ^ 1)],
  ])('a packet that is %s is dropped and counted', (_what, damage) => {
    const { a, link } = full();
    const addresses = {
      source: address(version.version === 2 ? '10.0.0.2' : 'fe80::2'),
      destination: version.destination,
    };
    const requests = [{ type, lsId: 1, advertisingRouter: A }];
    const payload = encodePacket(
      version.version,
      { kind: 'link-state-request', requests, routerId: B, areaId: AREA, instanceId: 0 },
      addresses,
    );
    link.event(0, { type: 'received', areaId: AREA, payload: damage(payload), addresses });
    link.run(0);
    const counted = [...a.counters.keys()].filter((name) => name.includes('.packet.'));
    expect({
      countedLength: counted.length,
      rxLinkStateRequest: a.count('rx.link-state-request'),
      state: a.state,
    }).toEqual({ countedLength: 1, rxLinkStateRequest: 0, state: 'full' });
  });

  test('a neighbor whose area is a stub to it is refused, and the reason is shown', () => {
    const a = new Router(testConfig(A, version));
    const stub: OspfVersion = {
      ...version,
      helloOptions: (signed) => version.helloOptions(signed) ^ version.agreedOptions,
    };
    const link = new Link(a, new Router(testConfig(B, stub)));
    link.run(5000);
    expect(a.state).toBe('none');
    expect(a.count('hello.options-mismatch')).toBeGreaterThan(0);
    expect(a.area.refused).toBeDefined();
  });
});
