// END.CON in IS-IS with real FRR: the SID crosses FRR routers in TLV 27 and levels through an agent of both, and
// packets to it reach the PE, because FRR advertises the SID's route (frr-configs/srv6-pe.conf). Members of groups
// cross FRR in GENINFO.
import { byKind } from '../../src/model/advertisement.fixture.ts';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gatherFrrFacts } from '../../src/frr/frr-facts.ts';
import { checkFrr } from '../../src/diagnosis/frr/isis.ts';
import { type SidRoute, SidRoutes } from '../../src/kernel/netlink/sid-routes.ts';
import { LearnedTable } from '../../src/learned/table.ts';
import { address, formatAddress } from '../../src/model/address.ts';
import type { AdvertisementOf } from '../../src/model/advertisement.ts';
import { membersIn, membersOf, receiver, source } from '../../src/model/group.fixture.ts';
import { DEFAULT_CODE_POINTS } from '../../src/model/code-points.ts';
import { prefix } from '../../src/model/prefix.ts';
import { decodePdu } from '../../src/packet/isis/pdu.ts';
import type { Locator } from '../../src/packet/isis/tlv/types.ts';
import type { Level } from '../../src/packet/isis/types.ts';
import { type FrrRouter, isisdConfig } from './support/frr.ts';
import { IsisScene, SYSTEM, up } from './support/isis-scene.ts';
import { type IsisAgent, isisOptions, origination } from './support/isis.ts';
import { contains, is, moreThan, until } from '../support/until.ts';

const END_CON = DEFAULT_CODE_POINTS['end-con-behavior'];
const SID = '2001:db8:c::1';
const LOCATOR = '2001:db8:c::/48';
const ENDCON: AdvertisementOf<'sid'> = { kind: 'sid', sid: address(SID), locator: prefix(LOCATOR), behavior: END_CON };
const run = promisify(execFile);

const scene = IsisScene.forEachTest();
const sidsOf = (agent: IsisAgent): string[] =>
  [...agent.reports.values()].flatMap((r) =>
    byKind(r.advertisements).sids.map((s) => `${r.originator} ${formatAddress(s.sid)} ${s.behavior}`),
  );
const addressesOf = (agent: IsisAgent): string[] =>
  [...agent.reports.values()]
    .flatMap((r) => byKind(r.advertisements).routerAddresses.map((a) => `${r.originator} ${formatAddress(a)}`))
    .sort();

/** The locators in the LSPs of a system, as an agent holds them. */
function locators(agent: IsisAgent, level: Level, system: string): Locator[] {
  const raw = agent.carrier.lsp(level, `${system}.00-01`);
  const decoded = raw && decodePdu(raw);
  const tlvs = decoded?.ok && decoded.value.kind === 'lsp' ? decoded.value.tlvs : [];
  return tlvs.flatMap((t) => (t.kind === 'srv6-locator' ? t.locators : []));
}

describe('across three FRR routers', () => {
  test('FCN-4.2.2-a: the END.CON SID arrives, the LSP byte for byte; it installs no route; a withdrawal and a stop arrive too', async () => {
    const routers = await scene.chain();
    const [a, c] = [await scene.agent(routers[0]!, 1), await scene.agent(routers[2]!, 3)];
    a.carrier.originate(
      origination([], { sids: [ENDCON], routerAddresses: [address('192.0.2.1'), address('2001:db8:ffff::1')] }),
    );
    await until('learned', () => sidsOf(c).length, moreThan(0));
    expect(sidsOf(c)).toEqual([`L2 ${SYSTEM[1]} ${SID} ${END_CON}`]);
    await until('router addresses', () => addressesOf(c).length, is(2));
    expect(addressesOf(c)).toEqual([`L2 ${SYSTEM[1]} 192.0.2.1`, `L2 ${SYSTEM[1]} 2001:db8:ffff::1`]);
    for (const fragment of ['00', '01']) {
      const copies = (): string[] =>
        [a, c].map((agent) => {
          const raw = agent.carrier.lsp(2, `${SYSTEM[1]}.00-${fragment}`)!.slice();
          raw.fill(0, 10, 12);
          return Buffer.from(raw).toString('hex');
        });
      await until(`fragment ${fragment} is the same at both ends`, () => new Set(copies()).size, is(1));
    }
    expect(routers[2]!.ip('-6', 'route', 'show', 'root', LOCATOR)).toBe('');
    a.carrier.originate(origination([]));
    await until(
      'withdrawn',
      () => [sidsOf(c).length, addressesOf(c).length] as const,
      ([a, b]) => a === 0 && b === 0,
    );
    a.carrier.originate(origination([], { sids: [ENDCON] }));
    await until('back', () => sidsOf(c).length, is(1));
    await a.carrier.stop();
    await until('purged', () => sidsOf(c).length, is(0));
  });

  test('RMC-5.1-d: members of a group cross FRR routers, which flood GENINFO as it is; a change and a withdrawal arrive too', async () => {
    const routers = await scene.chain();
    const [a, c] = [await scene.agent(routers[0]!, 1), await scene.agent(routers[2]!, 3)];
    const members = [source(), ...Array.from({ length: 60 }, (_, n) => receiver(n + 1))];
    const learned = (): string[] => membersOf(c.reports.values());
    const from = (all: readonly (typeof members)[number][]): string[] =>
      membersIn(all).map((text) => `L2 ${SYSTEM[1]}: ${text}`);
    a.carrier.originate(members);
    await until('learned', () => learned().length, is(members.length));
    expect(learned()).toEqual(from(members));
    for (const router of routers) expect(await router.show('show isis database')).toContain('agent1.00-03');
    const changed = [receiver(1, { qpn: 77, write: { vaDelta: 5n, rKey: 6 } })];
    a.carrier.originate(changed);
    await until('changed', () => learned().join(), is(from(changed).join()));
    a.carrier.originate([]);
    await until('withdrawn', () => learned().length, is(0));
  });

  test('in the learned table the SID counts while its originator can be reached, and is held when it cannot', async () => {
    const routers = await scene.chain();
    const [a, c] = [await scene.agent(routers[0]!, 1), await scene.agent(routers[2]!, 3)];
    const table = new LearnedTable({ holdMs: 3_600_000 }, { clock: { now: () => performance.now() }, count: () => {} });
    const shown = (): string[] => {
      for (const report of c.reports.values()) table.learned(report);
      table.reachability({ carrier: 'isis', reachable: c.reachable });
      return table.routers
        .sidsOf(END_CON)
        .map((s) => `${formatAddress(s.sid)} ${s.originator}${s.heldUntil === undefined ? '' : ' held'}`);
    };
    a.carrier.originate(origination([], { sids: [ENDCON], routerAddresses: [address('2001:db8:ffff::1')] }));
    await until('counts', () => shown().join(), is(`${SID} L2 ${SYSTEM[1]}`));
    expect(table.routers.routerAddresses()).toEqual([address('2001:db8:ffff::1')]);
    routers[0]!.ip('link', 'set', 'east', 'down');
    await until('held', () => shown().join(), is(`${SID} L2 ${SYSTEM[1]} held`), 60_000);
    expect(table.routers.routerAddresses()).toEqual([]);
    routers[0]!.ip('link', 'set', 'east', 'up');
    await until('counts again', () => shown().join(), is(`${SID} L2 ${SYSTEM[1]}`), 60_000);
  });

  test('with "topology ipv6-unicast" the locator is in topology 2, as the prefixes are', async () => {
    const routers = await scene.chain({ lines: ['topology ipv6-unicast'] });
    const [a, c] = [await scene.agent(routers[0]!, 1), await scene.agent(routers[2]!, 3)];
    a.carrier.originate(origination([], { sids: [ENDCON] }));
    await until('learned', () => sidsOf(c).length, moreThan(0));
    const topology = (): number[] => {
      const decoded = decodePdu(c.carrier.lsp(2, `${SYSTEM[1]}.00-01`)!);
      return decoded.ok && decoded.value.kind === 'lsp'
        ? decoded.value.tlvs.flatMap((t) => (t.kind === 'srv6-locator' ? [t.mtId] : []))
        : [];
    };
    await until('topology 2', () => topology().join(), is('2'));
  });

  test('a router that has MPLS-TE on takes our router addresses, SIDs and all, and its own router address is learned', async () => {
    const routers = await scene.chain({
      interfaceLines: ['ip router isis core'],
      lines: ['mpls-te on', 'mpls-te router-address 192.0.2.7'],
    });
    // isisd advertises neither TLV 134 nor 242 before zebra has given it a router ID, which is an IPv4 address.
    for (const [i, router] of routers.entries()) router.ip('address', 'add', `192.0.2.${i + 7}/32`, 'dev', 'lo');
    const [a, c] = [await scene.agent(routers[0]!, 1), await scene.agent(routers[2]!, 3)];
    a.carrier.originate(
      origination([], { sids: [ENDCON], routerAddresses: [address('192.0.2.7'), address('2001:db8:ffff::1')] }),
    );
    await until(
      'learned',
      () => ({ sids: sidsOf(c), addresses: addressesOf(c) }),
      ({ sids, addresses }) => sids.length === 1 && addresses.includes(`L2 0000.0000.1111 192.0.2.7`),
    );
    expect(addressesOf(c)).toContain(`L2 ${SYSTEM[1]} 192.0.2.7`);
    for (const router of routers) expect(await router.show('show isis database')).toContain('agent1.00-01');
  });
});

describe('between levels', () => {
  test('FCN-4.2.2-a: the SID goes from level 1 to 2 and from 2 to 1 through an agent of both, down with the D bit; never back', async () => {
    const r1 = scene.router(1, { isType: 'level-1', links: ['east'] });
    const r2 = scene.router(2, { isType: 'level-1-2', links: ['west', 'east'] });
    const r3 = scene.router(3, { isType: 'level-2-only', links: ['west'], area: '49.0002' });
    scene.net.link(r1, 'east', r2, 'west');
    scene.net.link(r2, 'east', r3, 'west');
    await scene.net.start();
    const a = await scene.agent(r1, 1, { levels: '1' });
    const b = await scene.agent(r2, 2, { levels: '1-2' });
    const c = await scene.agent(r3, 3, { levels: '2', area: Uint8Array.of(0x49, 0, 2) });
    const other: AdvertisementOf<'sid'> = {
      kind: 'sid',
      sid: address('2001:db8:d::1'),
      locator: prefix('2001:db8:d::/48'),
      behavior: END_CON,
    };
    a.carrier.originate(origination([], { sids: [ENDCON] }));
    c.carrier.originate(origination([], { sids: [other] }));
    await Promise.all([up(a), up(b), up(c)]);
    await until('up to level 2', () => sidsOf(c).length, moreThan(0));
    await until('down to level 1', () => sidsOf(a).length, moreThan(0));
    expect(sidsOf(c)).toEqual([`L2 ${SYSTEM[2]} ${SID} ${END_CON}`]);
    expect(sidsOf(a)).toEqual([`L1 ${SYSTEM[2]} 2001:db8:d::1 ${END_CON}`]);
    const flags = { kind: 'prefix-attribute-flags', flags: Uint8Array.of(0x40) };
    expect(locators(b, 2, SYSTEM[2])).toMatchObject([
      { prefix: prefix(LOCATOR), flags: 0, metric: 0xfe000001, subTlvs: [flags, { sid: address(SID) }] },
    ]);
    expect(locators(b, 1, SYSTEM[2])).toMatchObject([
      {
        prefix: prefix('2001:db8:d::/48'),
        flags: 0x80,
        metric: 0xfe000001,
        subTlvs: [flags, { sid: address('2001:db8:d::1') }],
      },
    ]);
    a.carrier.originate(origination([]));
    await until('gone from level 2', () => sidsOf(c).length, is(0));
    await b.carrier.stop();
    await until('gone from level 1', () => sidsOf(a).length, is(0));
  });
});

describe('packets to END.CON', () => {
  const HOST = '2001:db8:1::10';
  const host = `t-srv6-host-${process.pid}`;

  beforeEach(() => run('ip', ['netns', 'add', host]));
  afterEach(() => run('ip', ['netns', 'delete', host]));

  /** The lines about END.CON of the file that we give to operators. */
  function peLines(): { filters: string; redistribution: string[]; routes: string[] } {
    const text = readFileSync(new URL('../../frr-configs/srv6-pe.conf', import.meta.url), 'utf8');
    const matching = (pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([line]) => line);
    return {
      filters: `${/^ipv6 prefix-list[^]*?^exit$/m.exec(text)![0]}\n`,
      redistribution: matching(/redistribute .*/g),
      routes: matching(/^ipv6 route .*/gm),
    };
  }

  /** PE, P, and the P router that congests, in a row; behind the PE a host whose prefix is not in IS-IS. */
  async function wan(): Promise<FrrRouter[]> {
    const { filters, redistribution, routes } = peLines();
    const common = (n: number, interfaces: string[], lines: string[] = []): string =>
      isisdConfig({ systemId: `0000.0000.${n}${n}${n}${n}`, interfaces: ['cnpd-isis', ...interfaces], lines });
    const loopback = 'interface lo\n ipv6 router isis core\n isis passive\nexit\n';
    const pe = scene.net.router('pe', filters + common(1, ['core'], redistribution));
    pe.configureStatic(routes);
    const p1 = scene.net.router('p1', common(2, ['west', 'east']));
    const p2 = scene.net.router('p2', loopback + common(3, ['west']));
    scene.net.link(pe, 'core', p1, 'west');
    scene.net.link(p1, 'east', p2, 'west');
    p2.ip('address', 'add', '2001:db8:ffff::3/128', 'dev', 'lo');
    for (const { name } of [pe, p1, p2])
      await run('ip', ['netns', 'exec', name, 'sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1']);
    await run('ip', [
      'link',
      'add',
      'name',
      'dc',
      'netns',
      pe.name,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      host,
    ]);
    pe.ip('link', 'set', 'dc', 'up');
    pe.ip('address', 'add', '2001:db8:1::1/64', 'dev', 'dc', 'nodad');
    for (const line of [
      `link set eth0 up`,
      `address add ${HOST}/64 dev eth0 nodad`,
      'route add default via 2001:db8:1::1',
    ])
      await run('ip', ['-n', host, ...line.split(' ')]);
    await scene.net.start();
    return [pe, p1, p2];
  }

  const wayTo = (router: FrrRouter, to: string): string => router.ip('-6', 'route', 'show', 'root', to).trim();

  /** What `cnpctl doctor` would find. */
  const missing = async (router: FrrRouter): Promise<string[]> =>
    checkFrr(await gatherFrrFacts({ vtyDir: router.vtyDir }, 'cnpd-isis'), {
      ...isisOptions(SYSTEM[1]),
      endCon: [ENDCON],
    })
      .filter((check) => check.state === 'missing')
      .map((check) => check.id);

  /** One echo request from P2, wrapped by the kernel in an outer header to END.CON, without SRH. */
  /** `answered`, or why ping failed. */
  const ping = (p2: FrrRouter): Promise<string> =>
    run('ip', ['netns', 'exec', p2.name, 'ping', '-6', '-c1', '-W1', '-I', '2001:db8:ffff::3', HOST]).then(
      () => 'answered',
      String,
    );

  test('FCN-4.2.2-a FCN-4.2.2-e: from a P router two hops away they reach the PE and, unwrapped, the sender; the route comes and goes with the SID, not with the agent', async () => {
    const [pe, p1, p2] = (await wan()) as [FrrRouter, FrrRouter, FrrRouter];
    const [a, c] = [await scene.agent(pe, 1), await scene.agent(p2, 3)];
    a.carrier.originate(origination([], { sids: [ENDCON] }));
    await until('P2 knows what the SID is', () => sidsOf(c).length, is(1));
    await until(
      'the PE knows the way back',
      () => wayTo(pe, '2001:db8:ffff::3'),
      (text) => text !== '',
    );
    expect(await missing(pe)).toEqual([]);
    expect(await missing(p2)).toEqual(['frr.end-con']);
    // The locator leads to the PE, never to cnpd, whose TLV 27 draws no traffic; at the PE there is no SID yet.
    await until('P2 has a route to the locator', () => wayTo(p2, LOCATOR), contains('proto isis'));
    expect(wayTo(pe, LOCATOR)).toMatch(/^blackhole/);
    expect(wayTo(p2, SID)).toBe('');

    const sids = SidRoutes.open({ netns: pe.netns });
    try {
      const ifindex = Number(/^(\d+):/.exec(pe.ip('link', 'show', 'core'))![1]);
      const route: SidRoute = { sid: address(SID), action: 'end.dt6', table: 254, ifindex };
      sids.add(route);
      // Of another program and not a SID: the filter keeps it out.
      pe.ip('-6', 'route', 'add', '2001:db8:99::/48', 'dev', 'dc', 'proto', '112');
      await until('P2 has a route to the SID', () => wayTo(p2, SID), contains('proto isis'));
      const shown = await gatherFrrFacts({ vtyDir: pe.vtyDir }, 'cnpd-isis');
      expect(shown.advertised).toContainEqual({ prefix: prefix(`${SID}/128`), metric: 0 });
      await until('so has P1', () => wayTo(p1, SID), contains('proto isis'));
      expect(wayTo(p2, '2001:db8:99::/48')).toBe('');

      expect(await ping(p2)).not.toBe('answered');
      p2.ip('-6', 'route', 'add', `${HOST}/128`, 'encap', 'seg6', 'mode', 'encap.red', 'segs', SID, 'dev', 'west');
      await run('ip', ['netns', 'exec', p2.name, 'ip', 'sr', 'tunsrc', 'set', '2001:db8:ffff::3']);
      await until('the host answers', () => ping(p2), is('answered'));

      await a.carrier.stop();
      await until('the agent is gone', () => sidsOf(c).length, is(0));
      expect(wayTo(p2, SID)).toContain('proto isis');
      await until('the host still answers', () => ping(p2), is('answered'));

      sids.remove(route);
      await until('the route is gone', () => wayTo(p2, SID), is(''));
      expect(await ping(p2)).not.toBe('answered');
    } finally {
      sids.close();
    }
  });
});
