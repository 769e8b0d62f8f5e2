// The features of the congested node and the provider edge come with their sections and go with them; what an earlier
// version left in the kernel does not keep this one from working, and nothing of this one is left after it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ownObjects, shownObjects } from './support/bpf-objects.ts';
import { CongestedLine, congestedNode } from './support/congested.ts';
import { footprint } from './support/footprint.ts';
import { base } from './support/line.ts';
import type { Row } from './support/network.ts';
import { moreThan, until } from '../support/until.ts';

const SENDER = '2001:db8:1::10';
const POLICIES = [{ prefix: '2001:db8:1::/64', supports: ['fast-cnp'], order: ['fast-cnp'] }];
const WATCHING = congestedNode(POLICIES, { 'k-max': '20kB', 'per-flow-interval': '5ms' });
const { router } = base('p') as { router: object };
const SRV6 = { 'end-con': [{ sid: '2001:db8:c::1', locator: '2001:db8:c::/48' }], 'core-ports': ['eth1'] };
const STAMP = { reflector: true, 'accept-from': ['2001:db8:ffff::/48'], targets: ['2001:db8:ffff::3'] };

let line: CongestedLine;
beforeAll(async () => {
  line = await CongestedLine.up();
  await line.silentSenders(SENDER);
});
afterAll(() => line?.down());
beforeEach(() => line.clear());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(line.net.logs());
  if (line.p.running) expect(await line.p.counter('daemon.unexpected-error')).toBe(0);
});

const seg6local = (): Promise<string> => line.p.exec('sh', '-c', 'ip -6 route show table all | grep seg6local || true');
/** Maps that no program uses any more keep what traffic has taught until `cnpctl uninstall`. */
const everything = async (): Promise<unknown> => [{ ...(await footprint(line.p)), maps: [] }, await seg6local()];
const notifies = async (): Promise<void> => {
  const f = line.flow(SENDER);
  await line.congest('a Fast CNP', f, () => line.notificationsOf(f).length, moreThan(0));
};

describe('off by default', () => {
  test('A13 FCNP-5-f FCNP-5-g: sections that say `enabled: off` attach nothing, install nothing and open no socket; no sender is notified', async () => {
    const before = await everything();
    await line.p.start({
      router,
      notifications: { enabled: false, senders: POLICIES },
      srv6: { enabled: false, ...SRV6 },
      stamp: { enabled: false, ...STAMP },
    });
    expect(await everything()).toEqual(before);
    for (const what of [['notifications'], ['srv6', 'sids'], ['rtt']]) expect(await line.p.show(...what)).toEqual([]);
  });

  test('A13: each feature comes with its section and goes with it, one by one; nothing of it is left', async () => {
    await line.reload({ router });
    const before = await everything();

    await line.reload(WATCHING);
    await notifies();
    expect((await footprint(line.p))['hooks']!.join()).toMatch(/eth2/);
    await line.reload({ router });
    expect(await everything()).toEqual(before);

    await line.reload({ router, srv6: SRV6 });
    expect(await seg6local()).toContain('2001:db8:c::1');
    expect((await footprint(line.p))['hooks']!.join()).toMatch(/eth1/);
    await line.reload({ router });
    expect(await everything()).toEqual(before);

    await line.reload({ router, stamp: STAMP });
    expect((await footprint(line.p))['sockets']!.join()).toContain(':862');
    await line.reload({ router });
    expect(await everything()).toEqual(before);
  });
});

describe('what is left in the kernel', () => {
  const inKernel = async (): Promise<Set<string>> =>
    new Set((await Promise.all((['prog', 'map', 'link'] as const).map((kind) => shownObjects(line.p, kind)))).flat());

  test('killed and uninstalled, it leaves no program, map, link, route or file', async () => {
    await line.reload({ ...WATCHING, srv6: SRV6, 'border-ports': ['eth2'] });
    await notifies();
    await line.p.stop('SIGKILL');
    await notifies();
    const own = await ownObjects(line.p);
    expect(own.length).toBeGreaterThan(10);
    const uninstalled = await line.p.ctl('uninstall');
    expect(uninstalled.code).toBe(0);
    expect(uninstalled.stdout).toContain('removed the route of 2001:db8:c::1');
    expect(await seg6local()).toBe('');
    expect(await line.p.exec('sh', '-c', 'ls -d /run/cnpd 2>/dev/null || true')).toBe('');
    await until(
      'the kernel has freed everything',
      () => inKernel(),
      (left) => own.every((name) => !left.has(name)),
    );
  });

  /** As version 0.1.0 pinned them: type, octets of key and value, entries. */
  const OLD = {
    egress_config: ['array', 4, 40, 1],
    egress_ports: ['array', 4, 72, 256],
    egress_stats: ['percpu_array', 4, 64, 256],
    flows: ['array', 4, 432, 4096],
    guard_ports: ['hash', 4, 4, 1024],
  } as const;

  test('maps that version 0.1.0 has pinned are replaced, which is logged and counted; those of the same shape stay; senders are notified at once', async () => {
    await line.p.start({ ...WATCHING, 'border-ports': ['eth2'] });
    expect(await line.p.stop()).toBe(0);
    for (const [name, [type, key, value, entries]] of Object.entries(OLD)) {
      const pin = `/run/cnpd/bpf/${name}`;
      await line.p.exec('rm', pin);
      await line.p.exec(
        'bpftool',
        'map',
        'create',
        pin,
        'type',
        type,
        'key',
        String(key),
        'value',
        String(value),
        'entries',
        String(entries),
        'name',
        name,
      );
    }
    await line.p.start();
    expect(await line.p.get<Row>('status')).toMatchObject({ health: 'running' });
    expect(await line.p.counter('dataplane.state-replaced')).toBe(Object.keys(OLD).length);
    const logged = line.p.log
      .split('\n')
      .filter((text) => text.includes('state of another version replaced'))
      .map((text) => (JSON.parse(text) as { map: string }).map);
    expect(logged.toSorted()).toEqual(Object.keys(OLD).toSorted());
    await notifies();
    await line.p.stop();
    await line.p.start();
    expect(await line.p.counter('dataplane.state-replaced')).toBe(0);
    await notifies();
  });
});
