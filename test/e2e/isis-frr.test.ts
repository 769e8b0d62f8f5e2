// The IS-IS carrier against real isisd: adjacencies, LSPs in FRR's database and across it, and between levels.
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { decodePdu } from '../../src/packet/isis/pdu.ts';
import { askDaemon } from '../../src/frr/vty.ts';
import { topologyText } from '../../src/model/topology.fixture.ts';
import { type FrrRouter, isisdConfig } from './support/frr.ts';
import { IsisScene, PROXY, SENDERS, SYSTEM, up } from './support/isis-scene.ts';
import { type IsisAgent, origination, proxied } from './support/isis.ts';
import { contains, is, matches, moreThan, until } from '../support/until.ts';

const scene = IsisScene.forEachTest();

describe('adjacency with FRR', () => {
  test.each([
    ['L1', 'level-1', '1', 'L1'],
    ['L2', 'level-2-only', '2', 'L2'],
    ['L1L2', 'level-1-2', '1-2', 'L1L2'],
  ] as const)(
    'PNC-5-a: %s comes up, and our LSP is in its database with overload bit and hostname',
    async (_name, isType, levels, expected) => {
      const r1 = scene.router(1, { isType });
      await scene.net.start();
      const a = await scene.agent(r1, 1, { levels });
      a.carrier.originate(origination([proxied(SENDERS, PROXY)]));
      await up(a);
      expect(a.carrier.neighbors()[0]).toMatchObject({
        level: expected,
        systemId: '0000.0000.1111',
        interface: 'cnpd-isis',
      });
      await until('FRR shows Up', () => r1.show('show isis neighbor'), matches(/agent1 +cnpd-isis +\S+ +Up/));
      const detail = await until(
        'prefix in the database',
        () => r1.show('show isis database detail agent1.00-01'),
        (text) => text.includes(SENDERS) && text,
      );
      expect(detail).toMatch(/2001:db8:1::\/64 \(Metric: 4261412865\)/);
      const summary = await r1.show('show isis database');
      const lines = summary.split('\n').filter((line) => line.startsWith('agent1.00-00'));
      expect(lines).toHaveLength(levels === '1-2' ? 2 : 1);
      for (const line of lines) expect(line).toMatch(/0\/0\/1/);
      await until(
        'the router is reachable',
        () => a.reachable,
        (all) => all.has(`${expected === 'L1' ? 'L1' : 'L2'} 0000.0000.1111`),
      );
    },
  );

  test('at level 1 in another area there is none, and it is counted', async () => {
    const r1 = scene.router(1, { isType: 'level-1', area: '49.0002' });
    await scene.net.start();
    const a = await scene.agent(r1, 1, { levels: '1' });
    await until('counted', () => a.count('isis.hello.area-mismatch'), moreThan(0));
    expect(a.state).toBe('none');
  });

  test('FRR that sends LAN hellos is counted: "isis network point-to-point" is missing', async () => {
    const config = isisdConfig({ systemId: '0000.0000.1111', interfaces: ['cnpd-isis'] }).replace(
      ' isis network point-to-point\n',
      '',
    );
    const r1 = scene.net.router('r1', config);
    await scene.net.start();
    const a = await scene.agent(r1, 1);
    await until('counted', () => a.count('isis.hello.lan'), moreThan(0));
  });

  test('at MTU 9000, where FRR pads its hellos beyond what an 802.3 length can say', async () => {
    const r1 = scene.router(1);
    await scene.net.start();
    const a = await scene.agent(r1, 1, { mtu: 9000 });
    await up(a);
    await until('FRR shows Up', () => r1.show('show isis neighbor'), matches(/agent1 +cnpd-isis +\S+ +Up/));
  });

  test('with "topology ipv6-unicast" both ends speak the topology: prefixes go in TLV 237', async () => {
    const r1 = scene.router(1, { lines: ['topology ipv6-unicast'] });
    await scene.net.start();
    const a = await scene.agent(r1, 1);
    a.carrier.originate(origination([proxied(SENDERS, PROXY)]));
    await up(a);
    const detail = await until(
      'MT prefix in the database',
      () => r1.show('show isis database detail agent1.00-01'),
      (text) => text.includes('MT') && text.includes(SENDERS) && text,
    );
    expect(detail).toMatch(/ipv6-unicast/);
    const zero = await until(
      'MT neighbor',
      () => r1.show('show isis database detail agent1.00-00'),
      (text) => /MT Reachability.*ipv6-unicast/i.test(text) && text,
    );
    expect(zero).toMatch(/MT Router Info: ipv6-unicast/);
    expect(a.state).toBe('up');
  });
});

describe('across three FRR routers', () => {
  test('PNC-5-b PNC-5.1-a PNC-5.1-b: prefix, flag and proxy arrive, the LSP byte for byte; a change, a withdrawal and a stop arrive too', async () => {
    const routers = await scene.chain();
    const [a, c] = [await scene.agent(routers[0]!, 1), await scene.agent(routers[2]!, 3)];
    a.carrier.originate(origination([proxied(SENDERS, PROXY), proxied('10.1.0.0/16', '192.0.2.1')]));
    await until('learned', () => c.flagged, is(2));
    expect(c.proxiesOf(SENDERS)).toEqual([`L2 ${SYSTEM[1]} ${PROXY}`]);
    expect(c.proxiesOf('10.1.0.0/16')).toEqual([`L2 ${SYSTEM[1]} 192.0.2.1`]);
    await until(
      'originator reachable',
      () => c.reachable,
      (all) => all.has(`L2 ${SYSTEM[1]}`),
    );
    const [sent, received] = [a, c].map((x) => x.carrier.lsp(2, `${SYSTEM[1]}.00-01`)!);
    for (const raw of [sent!, received!]) raw.fill(0, 10, 12);
    expect(Buffer.from(received!).toString('hex')).toBe(Buffer.from(sent!).toString('hex'));
    // A proxy for signaling only installs no route.
    expect(routers[2]!.ip('-6', 'route', 'show', SENDERS)).toBe('');

    a.carrier.originate(origination([proxied(SENDERS, '2001:db8:ffff::2')]));
    await until(
      'changed',
      () => ({ flagged: c.flagged, proxy: c.proxiesOf(SENDERS)[0] }),
      is({ flagged: 1, proxy: `L2 ${SYSTEM[1]} 2001:db8:ffff::2` }),
    );
    a.carrier.originate(origination([]));
    await until('withdrawn', () => c.flagged, is(0));
    a.carrier.originate(origination([proxied(SENDERS, PROXY)]));
    await until('back', () => c.flagged, is(1));
    await a.carrier.stop();
    await until('purged', () => c.flagged, is(0));
    await until(
      'unreachable',
      () => c.reachable,
      (all) => !all.has(`L2 ${SYSTEM[1]}`),
    );
    expect(routers[0]!.ip('link', 'show')).not.toContain('cnpd-isis');
  });

  test('PNC-5-b: 10,000 prefixes arrive; when one changes, one LSP arrives', async () => {
    const routers = await scene.chain();
    const [a, c] = [await scene.agent(routers[0]!, 1), await scene.agent(routers[2]!, 3)];
    const many = Array.from({ length: 10_000 }, (_, i) => proxied(`2001:db8:0:${i.toString(16)}::/64`, PROXY));
    await Promise.all([up(a), up(c)]);
    a.carrier.originate(origination(many));
    await until('all learned', () => c.flagged, is(10_000), 60_000);
    // Sequence numbers of our LSPs, not a count of those received: isisd may still repeat one that is not acknowledged.
    const sequences = (agent: IsisAgent): Record<string, number> =>
      Object.fromEntries(
        agent.carrier
          .database()
          .filter(({ lspId }) => lspId.startsWith(SYSTEM[1]))
          .map(({ lspId, sequence }) => [lspId, sequence]),
      );
    await until(
      'our LSPs have arrived',
      () => ({ sent: sequences(a), received: sequences(c) }),
      ({ sent, received }) => isDeepStrictEqual(received, sent),
      60_000,
    );
    const before = sequences(c);
    a.carrier.originate(
      origination(many.map((p, i) => (i === 5000 ? proxied('2001:db8:0:1388::/64', '2001:db8:ffff::2') : p))),
    );
    await until(
      'changed',
      () => c.proxiesOf('2001:db8:0:1388::/64')[0],
      (proxy) => proxy?.endsWith('ffff::2'),
    );
    const after = sequences(c);
    const increments = Object.keys(after).map((lspId) => after[lspId]! - (before[lspId] ?? 0));
    expect(increments.filter((by) => by > 0)).toEqual([1]);
    expect(sequences(a)).toEqual(after);
  });

  test('when a link in the middle dies the originator is unreachable, its prefixes stay; when it comes back it is reachable', async () => {
    const routers = await scene.chain();
    const [a, c] = [await scene.agent(routers[0]!, 1), await scene.agent(routers[2]!, 3)];
    a.carrier.originate(origination([proxied(SENDERS, PROXY)]));
    await until(
      'reachable',
      () => ({ flagged: c.flagged, reachable: c.reachable }),
      (seen) => seen.flagged === 1 && seen.reachable.has(`L2 ${SYSTEM[1]}`),
    );
    routers[0]!.ip('link', 'set', 'east', 'down');
    await until(
      'unreachable',
      () => c.reachable,
      (all) => !all.has(`L2 ${SYSTEM[1]}`),
      60_000,
    );
    expect(c.flagged).toBe(1);
    routers[0]!.ip('link', 'set', 'east', 'up');
    await until(
      'reachable again',
      () => c.reachable,
      (all) => all.has(`L2 ${SYSTEM[1]}`),
      60_000,
    );
  });
});

describe('the topology of FRR routers', () => {
  test('both ends of a chain report the same: costs, overload bit, and the cnpd beside each router; a dead link is gone', async () => {
    const [r1, r2, r3] = await scene.chain();
    const [a, c] = [
      await scene.agent(r1!, 1, { reportsTopology: true }),
      await scene.agent(r3!, 3, { reportsTopology: true }),
    ];
    const shown = (agent: IsisAgent): string[] => agent.topology.flatMap(topologyText);
    const both = (what: string, expected: readonly string[]): Promise<unknown> =>
      until(what, () => [shown(a), shown(c)], is([expected, expected]), 60_000);
    const router = (n: number, ...links: string[]): string =>
      `0000.0000.${n}${n}${n}${n}.00 (L2 0000.0000.${n}${n}${n}${n}): ${links.join(', ')}`;
    const to = (n: number, cost: number): string => `0000.0000.${n}${n}${n}${n}.00 ${cost}`;
    const stub = (n: 1 | 3): string => `stub ${SYSTEM[n]}.00 (L2 ${SYSTEM[n]}): ${to(n, 10)}`;
    const ofCnpd = (n: 1 | 3): string => `${SYSTEM[n]}.00 10`;
    const [one, three] = [router(1, to(2, 10), ofCnpd(1)), router(3, to(2, 10), ofCnpd(3))];
    await both('a chain', [one, router(2, to(1, 10), to(3, 10)), three, stub(1), stub(3)]);
    expect([a, c].map(({ topology }) => topology[0]!.self)).toEqual([`${SYSTEM[1]}.00`, `${SYSTEM[3]}.00`]);

    const configure = (...lines: string[]): Promise<unknown> =>
      askDaemon(r2!.vtyDir, 'isisd', ['configure terminal', ...lines]);
    await configure('interface east', 'isis metric 33');
    await both('a cost', [one, router(2, to(1, 10), to(3, 33)), three, stub(1), stub(3)]);
    r1!.ip('link', 'set', 'east', 'down');
    const apart = [router(1, ofCnpd(1)), stub(1)];
    await until('a dead link', () => shown(a), is(apart), 60_000);
    r1!.ip('link', 'set', 'east', 'up');
    await both('back', [one, router(2, to(1, 10), to(3, 33)), three, stub(1), stub(3)]);
    await configure('router isis core', 'set-overload-bit');
    // Nothing is reached through r2 any more.
    await until(
      'overload',
      () => shown(a),
      is([one, `stub ${router(2, to(1, 10), to(3, 33))}`, stub(1)].sort()),
      60_000,
    );
  });
});

describe('between levels', () => {
  // r1 is in level 1, r3 in level 2, r2 in both: FRR propagates nothing of ours, agent 2 does.
  async function levels(): Promise<FrrRouter[]> {
    const r1 = scene.router(1, { isType: 'level-1', links: ['east'] });
    const r2 = scene.router(2, { isType: 'level-1-2', links: ['west', 'east'] });
    const r3 = scene.router(3, { isType: 'level-2-only', links: ['west'], area: '49.0002' });
    scene.net.link(r1, 'east', r2, 'west');
    scene.net.link(r2, 'east', r3, 'west');
    await scene.net.start();
    return [r1, r2, r3];
  }

  test('PNC-5.1-c A15: flag and proxy cross from level 1 to 2 and from 2 to 1 through an agent of both; without it they do not', async () => {
    const [r1, r2, r3] = await levels();
    const a = await scene.agent(r1!, 1, { levels: '1' });
    const c = await scene.agent(r3!, 3, { levels: '2', area: Uint8Array.of(0x49, 0, 2) });
    a.carrier.originate(origination([proxied(SENDERS, PROXY)]));
    c.carrier.originate(origination([proxied('2001:db8:3::/64', '2001:db8:ffff::3')]));
    await Promise.all([up(a), up(c)]);
    // FRR alone: r2 holds the prefix in level 1 and does not pass it on.
    await until('r2 has it in level 1', () => r2!.show('show isis database detail'), contains(SENDERS));
    expect(c.proxiesOf(SENDERS)).toEqual([]);
    const b = await scene.agent(r2!, 2, { levels: '1-2' });
    await until('up to level 2', () => c.proxiesOf(SENDERS).length, moreThan(0));
    await until('down to level 1', () => a.proxiesOf('2001:db8:3::/64').length, moreThan(0));
    expect(c.proxiesOf(SENDERS)).toEqual([`L2 ${SYSTEM[2]} ${PROXY}`]);
    expect(a.proxiesOf('2001:db8:3::/64')).toEqual([`L1 ${SYSTEM[2]} 2001:db8:ffff::3`]);
    const copy = (level: 1 | 2): unknown => {
      const decoded = decodePdu(b.carrier.lsp(level, `${SYSTEM[2]}.00-01`)!);
      const tlvs = decoded.ok && decoded.value.kind === 'lsp' ? decoded.value.tlvs : [];
      return tlvs.flatMap((t) =>
        t.kind === 'ipv6-reachability' ? t.prefixes.map((p) => [p.down, p.subTlvs[0]]) : [],
      )[0];
    };
    const flags = { kind: 'prefix-attribute-flags', flags: Uint8Array.of(0x41) };
    expect(copy(2)).toEqual([false, flags]);
    expect(copy(1)).toEqual([true, flags]);
    a.carrier.originate(origination([]));
    await until('gone from level 2', () => c.proxiesOf(SENDERS).length, is(0));
    await b.carrier.stop();
    await until('gone from level 1', () => a.proxiesOf('2001:db8:3::/64').length, is(0));
  });
});
