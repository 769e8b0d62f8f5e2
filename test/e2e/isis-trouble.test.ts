// The IS-IS carrier and real isisd in trouble: wrong keys, floods, restarts on either side, an interface that goes
// away.
import { describe, expect, test } from 'vitest';
import { IsisScene, PROXY, SENDERS, SYSTEM, up } from './support/isis-scene.ts';
import { isisOptions, origination, proxied } from './support/isis.ts';
import { measureTurns } from './support/turns.ts';
import { atLeast, contains, is, moreThan, until } from '../support/until.ts';

const scene = IsisScene.forEachTest();

describe('authentication with FRR', () => {
  const lines = [
    'area-password md5 AREAKEY authenticate snp validate',
    'domain-password md5 DOMAINKEY authenticate snp validate',
  ];
  const secured = { isType: 'level-1-2', interfaceLines: ['isis password md5 HELLOKEY'], lines };
  const keys = { interface: { key: 'HELLOKEY' }, area: { key: 'AREAKEY' }, domain: { key: 'DOMAINKEY' } };

  test('the right keys: adjacency, database and acknowledgement at both levels, and a signed purge is accepted', async () => {
    const r1 = scene.router(1, secured);
    await scene.net.start();
    const a = await scene.agent(r1, 1, { levels: '1-2', authentication: keys });
    a.carrier.originate(origination([proxied(SENDERS, PROXY)]));
    await until(
      'both levels hold it',
      async () => (await r1.show('show isis database detail agent1.00-01')).split(SENDERS).length,
      is(3),
    );
    const fragment = (await r1.show('show isis database'))
      .split('\n')
      .filter((line) => line.startsWith('agent1.00-01'));
    expect(fragment).toHaveLength(2);
    expect([...a.counters.keys()].filter((name) => name.startsWith('isis.auth.'))).toEqual([]);
    a.carrier.originate(origination([]));
    await until(
      'purged',
      async () => (await r1.show('show isis database')).split('\n').filter((line) => line.startsWith('agent1.00-01')),
      (rest) => rest.every((line) => /\(\d+\)/.test(line)),
    );
    expect(a.state).toBe('up');
  });

  test('a wrong key for hellos: no adjacency, counted', async () => {
    const r1 = scene.router(1, secured);
    await scene.net.start();
    const a = await scene.agent(r1, 1, { levels: '1-2', authentication: { ...keys, interface: { key: 'WRONG' } } });
    await until('counted', () => a.count('isis.auth.interface.wrong-key'), moreThan(1));
    expect(a.state).toBe('none');
    // The right key while running: no restart needed.
    expect(a.carrier.update(isisOptions(SYSTEM[1], { levels: '1-2', authentication: keys }))).toBe(true);
    await up(a);
  });

  test('a wrong key for a level: LSPs of that level are counted and not learned, those of the other are', async () => {
    const r1 = scene.router(1, secured);
    await scene.net.start();
    const a = await scene.agent(r1, 1, { levels: '1-2', authentication: { ...keys, domain: { key: 'WRONG' } } });
    await until('counted', () => a.count('isis.auth.domain.wrong-key'), moreThan(0));
    await until(
      'level 1 synchronized',
      () => a.carrier.database(),
      (all) => all.some((lsp) => lsp.level === 1 && !lsp.own),
    );
    expect(a.carrier.database().filter((lsp) => lsp.level === 2 && !lsp.own)).toEqual([]);
  });

  test('no key where FRR has one: missing', async () => {
    const r1 = scene.router(1);
    await scene.net.start();
    const a = await scene.agent(r1, 1, { authentication: keys });
    await until('counted', () => a.count('isis.auth.interface.missing'), moreThan(0));
  });
});

describe('a flood', () => {
  test('5,000 foreign LSPs of 20 prefixes sent at once: all are taken, and no turn of the event loop does a fifth of the work', async () => {
    // No FRR here: the neighbor is a process that floods as fast as it can.
    const r1 = scene.router(1);
    const a = await scene.agent(r1, 1);
    await scene.launch('isis-flood', r1, ['5000', '20']);
    await up(a);
    const turns = measureTurns();
    await until('all taken', () => a.reports.size, atLeast(5000), 60_000);
    const { total, max } = turns.stop();
    expect(max).toBeLessThan(total / 5);
    expect(a.state).toBe('up');
    expect(a.count('isis.adjacency.hold-expired')).toBe(0);
  });
});

describe('restarts', () => {
  test('an agent that is killed and started again outbids its old LSPs and purges what it no longer declares; its veth has the index that it had', async () => {
    const routers = await scene.chain();
    const c = await scene.agent(routers[2]!, 3);
    const many = Array.from({ length: 100 }, (_, i) => `2001:db8:0:${i.toString(16)}::/64`);
    const child = await scene.launch('isis-agent', routers[0]!, [SYSTEM[1], '2', ...many]);
    await until('learned from the process', () => c.flagged, is(100));
    await until(
      'reachable',
      () => c.reachable,
      (all) => all.has(`L2 ${SYSTEM[1]}`),
    );
    const index = () => /^\d+/.exec(routers[0]!.ip('-o', 'link', 'show', 'cnpd-isis'))![0];
    const before = index();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    const a = await scene.agent(routers[0]!, 1);
    a.carrier.originate(origination([proxied(many[0]!, PROXY)]));
    await until('only what is declared now', () => c.flagged, is(1), 60_000);
    await until(
      'reachable again',
      () => c.reachable,
      (all) => all.has(`L2 ${SYSTEM[1]}`),
    );
    expect(index()).toBe(before);
  });

  test('FRR restarts: the adjacency goes, comes back, and the database is complete again', async () => {
    // FRR's holding time is ten intervals: ten seconds instead of thirty.
    const routers = await scene.chain({ interfaceLines: ['isis hello-interval 1'] });
    const [a, c] = [await scene.agent(routers[0]!, 1), await scene.agent(routers[2]!, 3)];
    a.carrier.originate(origination([proxied(SENDERS, PROXY)]));
    const seenFromAfar = () => ({ flagged: c.flagged, reachable: c.reachable });
    const isLearned = (seen: ReturnType<typeof seenFromAfar>): boolean =>
      seen.flagged === 1 && seen.reachable.has(`L2 ${SYSTEM[1]}`);
    await until('learned', seenFromAfar, isLearned);
    await routers[0]!.stop('isisd', 'SIGKILL');
    await routers[0]!.start();
    await until(
      'down or restarted',
      () => ({ since: a.carrier.neighbors()[0]!.since, state: a.state }),
      ({ since, state }) => since !== undefined && state !== 'down',
    );
    await until(
      'FRR has our LSP again',
      () => routers[0]!.show('show isis database detail'),
      contains(SENDERS),
      60_000,
    );
    await until('reachable again from afar', seenFromAfar, isLearned, 60_000);
    await routers[0]!.stop('isisd');
    await until('hold time', () => a.state, is('down'), 40_000);
    await until('nothing reachable', () => a.reachable.size, is(0));
    await routers[0]!.start();
    await up(a);
  });

  test('the interface is deleted: it is created again, and the adjacency comes back', async () => {
    const r1 = scene.router(1);
    await scene.net.start();
    const a = await scene.agent(r1, 1);
    a.carrier.originate(origination([proxied(SENDERS, PROXY)]));
    await up(a);
    r1.ip('link', 'del', 'cnpd-isis');
    await until('noticed', () => a.count('isis.interface.vanished'), is(1));
    expect(a.carrier.neighbors()[0]).toMatchObject({ state: 'down', reason: 'interface cnpd-isis was deleted' });
    await until('up again', () => a.state, is('up'), 60_000);
    await until('FRR lists us again', () => r1.show('show isis neighbor'), contains('Up'));
  });

  test('an interface of that name which is not ours is left alone', async () => {
    const r1 = scene.router(1);
    r1.ip('link', 'add', 'cnpd-isis', 'type', 'veth', 'peer', 'name', 'other');
    await scene.net.start();
    await expect(scene.agent(r1, 1)).rejects.toMatchObject({ code: 'interface-exists' });
    expect(r1.ip('link', 'show', 'cnpd-isis')).toContain('cnpd-isis');
  });
});
