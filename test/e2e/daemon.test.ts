// The whole daemon on real FRR, from the file to the kernel of another router: learning over three routers, and every
// way in which what was learned goes away. It does not look at traffic (scene.test.ts).
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KEY, LOOPBACK, SENDERS4, SENDERS6, SYSTEM, adjacent, base, proxy, watching } from './support/line.ts';
import type { RunResult } from '../../src/lab/run.ts';
import { anyUp, Network, type Router, type Row } from './support/network.ts';
import { LEARNED, lasting, replaysAsShown } from './support/replayed.ts';
import { contains, moreThan, until } from '../support/until.ts';

let net: Network;
let leaf: Router, p: Router, far: Router;

/** Held for so long that no test sees it end. */
const LONG = { 'hold-unreachable': '10min' };
const SHORT_MS = 8000;
const SHORT = { 'hold-unreachable': `${SHORT_MS}ms` };
const LEAF = { ...base('leaf'), ...proxy('leaf') };
/** The far router watches its port too, so that what it learns goes down to its kernel. */
const FAR = { ...base('far', LONG), ...watching() };

beforeAll(async () => {
  net = await Network.up('line');
  [leaf, p, far] = [net.router('leaf'), net.router('p'), net.router('far')];
});
afterAll(() => net.down());

beforeEach(async () => {
  await Promise.all([leaf.running || leaf.start(LEAF), far.running || far.start(FAR)]);
  await adjacent(net, 'leaf', 'far');
  await far.reload(FAR);
  await leaf.reload(LEAF);
  await Promise.all([learned(SENDERS6), learned(SENDERS4)]);
});
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  console.log(net.logs());
  await net.stopAll();
});

const learned = (prefix = SENDERS6): Promise<Row> =>
  until(
    `${prefix} is learned`,
    () => far.sender(prefix),
    (row) => row?.['proxy'] !== undefined && row,
  );
/** In the table nothing names a proxy for the prefix; FRR's own advertisement of it, without the flag, stays. */
const unproxied = (prefix = SENDERS6): Promise<boolean> =>
  until(
    `${prefix} has no proxy`,
    () => far.get('senders'),
    (all) => all.every((row) => row['prefix'] !== prefix || row['proxy'] === undefined),
  );
const proxyRow = async (): Promise<Row | undefined> =>
  (await far.get('senders')).find((row) => row['prefix'] === SENDERS6 && row['proxy'] !== undefined);
const held = (): Promise<string> => until('held', proxyRow, (row) => row?.['held-until'] as string | undefined);
/** The entry of the far router's kernel for a prefix: `key value`. */
const inKernel = async (prefix: keyof typeof KEY = SENDERS6): Promise<string | undefined> =>
  (await far.mapEntries('sender_proxies'))?.find((entry) => entry.startsWith(KEY[prefix]));
const hasProxy = (entry: string | undefined): boolean => entry?.includes('20010db8ffff00000000000000000001') ?? false;
const lacksProxy = (entry: string | undefined): boolean => !hasProxy(entry);

describe('learning over three routers', () => {
  test('PNC-5-a PNC-5-b PNC-5.1-a PNC-5.1-b: what leaf declares in YAML far knows: carrier, proxy, originator; its kernel has it', async () => {
    expect(await leaf.show('proxies')).toEqual([
      {
        address: LOOPBACK.leaf.ipv6,
        prefixes: [SENDERS6, SENDERS4],
        format: 'standard-cnp',
        'advertised-in': ['isis'],
      },
    ]);
    const senders = (await far.show('senders')).filter((row) => row['proxy'] !== undefined);
    expect(senders.map((row) => row['prefix']).sort()).toEqual([SENDERS4, SENDERS6].sort());
    for (const row of senders) {
      expect(row).toMatchObject({
        carrier: 'isis',
        proxy: LOOPBACK.leaf.ipv6,
        originator: `L2 ${SYSTEM.leaf}`,
        pnc: true,
        best: true,
        metric: 0xfe000001,
      });
    }
    await until(
      'the kernel has both',
      async () => [await inKernel(SENDERS6), await inKernel(SENDERS4)],
      (entries) => entries.every(hasProxy),
    );
    // FRR in the middle carries it; the route to the senders is FRR's own, with the flag no traffic is drawn to cnpd.
    expect(await p.frr('show isis database detail')).toContain(`${SENDERS6} (Metric: 4261412865)`);
    // Its SPF waits longer than cnpd's.
    await until(
      'FRR has the route',
      () => far.frr(`show ipv6 route ${SENDERS6}`),
      (text) => /metric 30\b/.test(text),
    );
  });

  test('PNC-5-c: `cnpctl show senders ADDRESS` takes the longest match, and shows none where a longer one has no proxy', async () => {
    const inside = '2001:db8:1:0:aaaa::/80';
    const outside = '2001:db8:1:0:bbbb::/80';
    const more = [SENDERS6, inside].map((prefix) => ({ prefix, format: 'standard-cnp' }));
    // FRR advertises a longer prefix without the flag: its senders have no proxy.
    await leaf.exec('ip', 'address', 'add', '2001:db8:1:0:bbbb::1/80', 'dev', 'eth1');
    try {
      await leaf.reload({ ...base('leaf'), ...proxy('leaf', { senders: more }) });
      await learned(inside);
      await until(
        'FRR advertises the other',
        () => far.get('senders'),
        (all) => all.some((row) => row['prefix'] === outside),
      );
      const of = async (address: string): Promise<unknown> => {
        const { code, stdout } = await far.ctl('show', 'senders', address, '-o', 'json');
        const { proxy: found, prefix } = JSON.parse(stdout) as { proxy?: string; prefix?: string };
        return [code, prefix, found];
      };
      expect(await of('2001:db8:1::2')).toEqual([0, SENDERS6, LOOPBACK.leaf.ipv6]);
      expect(await of('2001:db8:1:0:aaaa::2')).toEqual([0, inside, LOOPBACK.leaf.ipv6]);
      expect(await of('2001:db8:1:0:bbbb::2')).toEqual([1, outside, undefined]);
      expect(await of('2001:db8:77::1')).toEqual([1, undefined, undefined]);
      expect((await far.ctl('show', 'senders', '2001:db8:1:0:aaaa::2')).stdout).toContain(
        `proxy ${LOOPBACK.leaf.ipv6}, the longest match is ${inside} from L2 ${SYSTEM.leaf} (isis)`,
      );
    } finally {
      await leaf.exec('ip', 'address', 'del', '2001:db8:1:0:bbbb::1/80', 'dev', 'eth1');
    }
  });
});

test('the program cnpctl prints and returns what the other tests read in their own process', async () => {
  const lines = [
    ['show', 'senders'],
    ['-o', 'json', 'show', 'proxies'],
    ['show', 'senders', '2001:db8:77::1'],
    ['show', 'nothing'],
    ['reload'],
  ];
  const codes: number[] = [];
  for (const args of lines) {
    const [printed, read] = [await far.cnpctl(...args), await far.ctl(...args)];
    const ageless = ({ code, stdout, stderr }: RunResult) => ({
      code,
      stderr,
      // An age may have one digit more a moment later, and its column another width.
      stdout: stdout.replace(/\b(?:\d+[dhm])*\d+[smh]\b/g, 'AGE').replace(/ +/g, ' '),
    });
    expect(ageless(read)).toEqual(ageless(printed));
    codes.push(printed.code);
  }
  expect(codes).toEqual([0, 0, 1, 2, 0]);
});

test('ps and systemd see cnpd, not Node.js', () => {
  expect(readFileSync(`/proc/${far.pid}/comm`, 'utf8')).toBe('cnpd\n');
});

describe('problems', () => {
  test('a proxy learned later, of a family in which this router has no address to notify it from, is shown by status at once', async () => {
    const problems = async (): Promise<string> => JSON.stringify((await far.get<Row>('status'))['problems'] ?? []);
    await far.reload({
      ...base('far', LONG),
      router: { name: 'far', loopback: { ipv6: LOOPBACK.far.ipv6 } },
      ...watching(),
    });
    await learned();
    expect(await problems()).not.toContain('no ipv4 loopback');
    await leaf.reload({ ...base('leaf'), ...proxy('leaf', { address: LOOPBACK.leaf.ipv4 }) });
    await until(
      'status shows it',
      () => problems(),
      contains('2 sender prefixes have a proxy with an ipv4 address, and this router has no ipv4 loopback'),
    );
  });
});

describe('withdrawal', () => {
  test('PNC-5-b: a prefix taken out of the file goes with `cnpctl reload`, the other stays; one put in comes with SIGHUP', async () => {
    await leaf.reload({
      ...base('leaf'),
      ...proxy('leaf', { senders: [{ prefix: SENDERS4, format: 'standard-cnp' }] }),
    });
    await unproxied(SENDERS6);
    await until('the kernel follows', () => inKernel(SENDERS6), lacksProxy);
    expect(hasProxy(await inKernel(SENDERS4))).toBe(true);
    leaf.configure(LEAF);
    leaf.signal('SIGHUP');
    await learned(SENDERS6);
    await until('the kernel follows', () => inKernel(SENDERS6), hasProxy);
  });

  test('PNC-6-e: `proxy.enabled: off` withdraws every prefix', async () => {
    await leaf.reload({ ...base('leaf'), ...proxy('leaf', { enabled: false }) });
    await unproxied(SENDERS6);
    await unproxied(SENDERS4);
    expect(await leaf.show('proxies')).toEqual([]);
  });

  test('PNC-5-b: SIGTERM purges: gone at once though the hold is ten minutes; cnpd ends with 0 and its interface with it', async () => {
    expect(await leaf.stop('SIGTERM')).toBe(0);
    await unproxied(SENDERS6);
    await until('the kernel follows', () => inKernel(SENDERS6), lacksProxy);
    expect(await leaf.exec('ip', '-br', 'link')).not.toContain('cnpd-isis');
    expect((await leaf.cnpctl('show', 'status')).code).toBe(3);
  });

  test('PNC-5-b: cnpd killed with SIGKILL: what it declared is held while `hold-unreachable` lasts, then dropped, in the kernel as well', async () => {
    await far.reload({ ...base('far', SHORT), ...watching() });
    await leaf.stop('SIGKILL');
    const end = await held();
    expect(hasProxy(await inKernel())).toBe(true);
    expect(
      (await far.show('senders', '--all')).find((row) => row['prefix'] === SENDERS6 && row['proxy'] !== undefined),
    ).toMatchObject({ best: true, 'held-until': end });
    await unproxied();
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(end) - 50);
    await until('the kernel follows', () => inKernel(), lacksProxy);
  });

  test('PNC-5-b: a link dies: the originator is unreachable, held, dropped; with the link it comes back', async () => {
    await far.reload({ ...base('far', SHORT), ...watching() });
    await leaf.exec('ip', 'link', 'set', 'eth2', 'down');
    try {
      const end = await held();
      expect(Date.parse(end) - Date.now()).toBeLessThanOrEqual(SHORT_MS);
      expect(hasProxy(await inKernel())).toBe(true);
      await unproxied();
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(end) - 50);
      await until('the kernel follows', () => inKernel(), lacksProxy);
    } finally {
      await leaf.exec('ip', 'link', 'set', 'eth2', 'up');
    }
    await learned();
    await until('the kernel follows', () => inKernel(), hasProxy);
  });

  test('PNC-5-b: a link that comes back within the hold: the proxy never goes', async () => {
    await leaf.exec('ip', 'link', 'set', 'eth2', 'down');
    await held();
    await leaf.exec('ip', 'link', 'set', 'eth2', 'up');
    await until(
      'no longer held',
      () => far.get('senders'),
      (all) => {
        const rows = all.filter((row) => row['prefix'] === SENDERS6 && row['proxy'] !== undefined);
        const inForce = rows.find((row) => row['best'] === true);
        return inForce?.['proxy'] === LOOPBACK.leaf.ipv6 && rows.every((row) => row['held-until'] === undefined);
      },
    );
    expect(hasProxy(await inKernel())).toBe(true);
  });
});

describe('authentication', () => {
  const KEYS = { interface: { 'hmac-md5': 'link-key' }, domain: { 'hmac-md5': 'domain-key' } };
  const secure = (router: Router, no: '' | 'no '): Promise<string> =>
    router.frr(
      'configure',
      'interface cnpd-isis',
      `${no}isis password md5 link-key`,
      'exit',
      'router isis wan',
      no === '' ? 'domain-password md5 domain-key authenticate snp validate' : 'no domain-password',
    );
  const LSP = ['level', 'lsp-id', 'sequence', 'checksum', 'length', 'own', 'reachable', 'proxy-prefixes'];

  /** Recorded while it learns anew, and replayed without a router: far shows the same. */
  async function recordedWithoutKeys(): Promise<void> {
    const relearned = async (): Promise<void> => {
      await adjacent(net, 'far');
      await until('learned anew', proxyRow, (row) => row !== undefined && row['held-until'] === undefined);
    };
    const database = { view: ['isis', 'database'], fields: LSP };
    const { file, replayed } = await replaysAsShown(far, ['isis'], relearned, [database, LEARNED]);
    expect((await far.exec('stat', '-c', '%a %U', file)).trim()).toBe('600 root');
    // The program does what the test has done within its own process.
    const { code, stdout, stderr } = await far.cnpd('replay', '-o', 'json', file, ...database.view);
    expect([code, stderr]).toEqual([0, '']);
    expect(lasting(JSON.parse(stdout) as Row[], database)).toEqual(replayed[0]);
    const text = await far.exec('cat', file);
    for (const key of ['link-key', 'domain-key']) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(Buffer.from(key).toString('hex'));
    }
  }
  /** FRR's configuration has the keys, too. */
  async function bundleWithoutKeys(): Promise<void> {
    const made = await far.cnpctl('support-bundle', '/tmp/bundle.tar.gz');
    expect([made.code, made.stderr]).toEqual([0, '']);
    try {
      expect((await far.exec('stat', '-c', '%a', '/tmp/bundle.tar.gz')).trim()).toBe('600');
      const text = await far.exec('tar', '--extract', '--gzip', '--to-stdout', '--file', '/tmp/bundle.tar.gz');
      for (const key of ['link-key', 'domain-key']) expect(text).not.toContain(key);
      expect(text).toContain('isis password md5 <masked>');
      expect(text).toContain('domain-password md5 <masked> authenticate snp validate');
      const manifest = JSON.parse(text.slice(0, text.indexOf('\n}\n') + 2)) as { parts: Record<string, unknown>[] };
      const missing = manifest.parts.filter((part) => part['ok'] !== true).map((part) => part['file']);
      // No metrics are served here, FRR runs IS-IS alone, and the lab has neither journal nor systemd.
      expect(
        missing.filter((file) => !/^(metrics|log|service)\.txt$|^kernel\/bpf|^frr\/(ospf|bgp)/.test(String(file))),
      ).toEqual([]);
      expect(text).toContain('"format":"cnpd-recording"');
    } finally {
      await far.exec('rm', '-f', '/tmp/bundle.tar.gz');
    }
  }
  const far_ = (authentication: object): object => ({ ...base('far', { ...LONG, authentication }), ...watching() });

  test('HMAC-MD5 of interface and domain: the right keys learn, wrong ones are counted under their names and learn nothing', async () => {
    await Promise.all([leaf.stop(), far.stop()]);
    await Promise.all([leaf, p, far].map((router) => secure(router, '')));
    try {
      await leaf.start({ ...base('leaf', { authentication: KEYS }), ...proxy('leaf') });
      await far.start(far_(KEYS));
      await learned();
      expect(Object.keys(await far.counters()).filter((name) => name.endsWith('.wrong-key'))).toEqual([]);

      await far.stop();
      await far.start(far_({ ...KEYS, domain: { 'hmac-md5': 'another' } }));
      await adjacent(net, 'far');
      const count = async (name: string): Promise<number> =>
        Number((await far.show('counters')).find((row) => row['name'] === name)?.['value'] ?? 0);
      await until('counted', () => count('isis.auth.domain.wrong-key'), moreThan(0));
      expect(await far.show('senders', '--all')).toEqual([]);

      await far.reload(far_({ ...KEYS, interface: { 'hmac-md5': 'another' } }));
      await until('counted', () => count('isis.auth.interface.wrong-key'), moreThan(0));
      await until(
        'the adjacency is lost',
        () => far.neighbors(),
        (all) => !anyUp(all),
      );

      await far.reload(far_(KEYS));
      await learned();
      await recordedWithoutKeys();
      await bundleWithoutKeys();
    } finally {
      await Promise.all([leaf.stop(), far.stop()]);
      await Promise.all([leaf, p, far].map((router) => secure(router, 'no ')));
    }
  });
});
