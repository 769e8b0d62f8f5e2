// BGP between autonomous systems, with everything real: cnpd – gobgpd – BIRD in an AS of its own – gobgpd – cnpd. What
// crosses, whom far believes, what stays in the AS, and how an operator finds the router that drops attribute 39.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { BOTH, BgpNetwork, ExaBgp, NHC, pathsOf, speaker } from './support/bgp.ts';
import { LOOPBACK, SENDERS6, proxy } from './support/line.ts';
import type { Router } from './support/network.ts';
import { is, until } from '../support/until.ts';

const BIRD = '2001:db8:0:4::1';
const NO_EXPORT = 0xffff_ff01;

const leafIn = (domain: readonly number[]): object => ({ ...speaker('leaf', { domain }), ...proxy('leaf') });
const farIn = (domain: readonly number[]): object => speaker('far', { domain });
const LEAF = leafIn([65020, 65003]);
const FAR = farIn([65001, 65020]);

let bgp: BgpNetwork;
let leaf: Router, far: Router;

beforeAll(async () => {
  bgp = await BgpNetwork.up('ebgp', 'leaf', 'far');
  [leaf, far] = [bgp.router('leaf'), bgp.router('far')];
});
afterAll(() => bgp.down());

beforeEach(async () => {
  await Promise.all([leaf.running || leaf.start(LEAF), far.running || far.start(FAR)]);
  await Promise.all([leaf.reload(LEAF), far.reload(FAR)]);
  await Promise.all(
    BOTH.map((prefix) =>
      until(`far uses ${prefix}`, async () => (await far.sender(prefix))?.['proxy'], is(LOOPBACK.leaf.ipv6)),
    ),
  );
});
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  console.log(bgp.net.logs());
  await bgp.net.stopAll();
});

interface Remote {
  readonly ok: boolean;
  readonly paths: readonly {
    readonly prefix: string;
    readonly arrival: string;
    readonly why?: string;
    readonly remedy?: string;
  }[];
}

/** `cnpctl doctor --remote` at leaf, given what far's `cnpctl -o json show bgp` prints. */
async function compared(): Promise<{ readonly code: number | null; readonly report: Remote; readonly text: string }> {
  const { stdout } = await far.ctl('-o', 'json', 'show', 'bgp');
  await leaf.exec('sh', '-c', 'printf %s "$0" > /run/far.json', stdout);
  const json = await leaf.ctl('-o', 'json', 'doctor', '--remote', '/run/far.json');
  const { stdout: text } = await leaf.ctl('doctor', '--remote', '/run/far.json');
  return { code: json.code, report: JSON.parse(json.stdout) as Remote, text };
}

test('PNC-5.4-a PNC-5-a PNC-5-b: attribute 39 crosses BIRD byte for byte in both families, and far has leaf as the proxy', async () => {
  for (const prefix of BOTH) {
    const [path] = await bgp.gobgpd.far.paths(prefix);
    expect(path).toMatchObject({
      nextHop: prefix === SENDERS6 ? LOOPBACK.leaf.ipv6 : LOOPBACK.leaf.ipv4,
      nhc: { value: NHC[prefix] },
    });
    expect([0xc0, 0xe0]).toContain(path!.nhc!.flags);
    expect(await pathsOf(far, prefix)).toMatchObject([
      { status: 'used', peer: BIRD, 'as-path': '65020 65001', proxy: LOOPBACK.leaf.ipv6 },
    ]);
  }
});

test('PNC-6-a: what has passed an AS that is not of the domain is disregarded and counted, whoever originated it', async () => {
  for (const domain of [[65001], [65020]]) {
    const before = await far.counter('bgp.learn.outside-domain');
    await far.reload(farIn(domain));
    for (const prefix of BOTH) {
      await until(
        `${prefix} has no proxy`,
        () => far.get('senders'),
        (all) => all.every((row) => row['prefix'] !== prefix || row['proxy'] === undefined),
      );
      await until(
        `${prefix} is from outside`,
        async () => (await pathsOf(far, prefix))[0]?.['status'],
        is('outside-domain'),
      );
    }
    expect(await far.counter('bgp.learn.outside-domain')).toBeGreaterThan(before);
  }
});

test('PNC-6-a: without a domain the paths say NO_EXPORT and do not leave the AS', async () => {
  await leaf.reload(leafIn([]));
  for (const prefix of BOTH)
    await until(`far’s gobgpd has no ${prefix}`, async () => (await bgp.gobgpd.far.paths(prefix)).length, is(0));
  // Far may lose them by the policy alone, before leaf's own paths are replaced.
  interface PathAttribute {
    readonly type: number;
    readonly communities?: number[];
  }
  const attributes = async (): Promise<readonly PathAttribute[] | undefined> => {
    const table = JSON.parse(await bgp.gobgpd.leaf.gobgp('global', 'rib', '-j', '-a', 'ipv6')) as Record<
      string,
      { attrs: PathAttribute[] }[]
    >;
    return table[SENDERS6]?.[0]?.attrs;
  };
  const communities = (attrs: readonly PathAttribute[] | undefined): readonly number[] | undefined =>
    attrs?.find(({ type }) => type === 8)?.communities;
  expect(await until('leaf’s own path has communities', attributes, communities)).toEqual([NO_EXPORT]);
});

interface Item {
  readonly id: string;
  readonly state: string;
  readonly claim: string;
  readonly problem?: string;
}

async function doctorAboutGobgp(): Promise<Item[]> {
  const { stdout } = await leaf.ctl('-o', 'json', 'doctor', '-c', '/etc/cnpd/cnpd.yaml');
  return (JSON.parse(stdout) as { items: Item[] }).items.filter(({ id }) => /^(gobgp|bgp\.)/.test(id));
}

test('cnpctl doctor asks gobgpd: its API, its neighbors, the families that the intent needs', async () => {
  const about = await doctorAboutGobgp();
  expect(about.map(({ id, state }) => [id, state])).toEqual([
    ['bgp.originated', 'ok'],
    ['gobgp', 'ok'],
    ['gobgp.neighbors', 'ok'],
    ['gobgp.ipv4-unicast', 'ok'],
    ['gobgp.ipv6-unicast', 'ok'],
    ['gobgp.domain', 'ok'],
  ]);
  expect(about[1]!.claim).toMatch(/API v[34], AS 65001, router ID 192\.0\.2\.1/);
});

test('PNC-6-a: a neighbor of leaf’s gobgpd that is not of the domain is shown, and kept from cnpd’s paths by its policies, until it is', async () => {
  expect((await doctorAboutGobgp()).at(-1)!.claim).toMatch(
    /^cnpd's policies keep its paths from neighbors outside the domain: .*neighbor 2001:db8:0:6::2, AS 65030$/,
  );
  const inDomain = async (): Promise<unknown> =>
    (await leaf.get('bgp', 'peers')).map((row) => [row['as'], row['in-domain']]).sort();
  expect(await inDomain()).toEqual([
    [65001, true],
    [65020, true],
    [65030, false],
  ]);
  await leaf.reload(leafIn([65020, 65003, 65030]));
  await until(
    'all are of the domain',
    async () => JSON.stringify(await inDomain()),
    (is) =>
      is ===
      JSON.stringify([
        [65001, true],
        [65020, true],
        [65030, true],
      ]),
  );
  expect((await doctorAboutGobgp()).at(-1)).toMatchObject({ id: 'gobgp.domain', state: 'ok' });
});

test('cnpctl doctor --remote: every path arrived and is used', async () => {
  const { code, report, text } = await compared();
  expect(report.paths.map(({ prefix, arrival }) => [prefix, arrival]).sort()).toEqual(
    BOTH.map((prefix) => [prefix, 'used']).sort(),
  );
  expect({ code, ok: report.ok }).toEqual({ code: 0, ok: true });
  expect(text).toContain('2 of 2 paths arrived intact and are used');
});

/**
 * A router that passes paths on without the attributes that it does not know: a process of ExaBGP, which hands it what
 * one neighbor reports and announces to the other what it prints.
 */
const FORGETFUL = `#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    update = json.loads(line).get("neighbor", {}).get("message", {}).get("update", {})
    for family in update.get("announce", {}).values():
        for hop, routes in family.items():
            for route in routes:
                print("neighbor 2001:db8:0:7::2 announce route %s next-hop %s" % (route["nlri"], hop), flush=True)
`;
const Y = { leaf: '2001:db8:0:6::2', far: '2001:db8:0:7::1' } as const;
const neighbor = (local: string, peer: string, as: number, api: string): string =>
  `neighbor ${peer} { router-id 192.0.2.6; local-address ${local}; local-as 65030; peer-as ${as}; ` +
  `family { ipv4 unicast; ipv6 unicast; } api { processes [api]; ${api} } }\n`;
const CONFIG =
  'process api { run /run/process; encoder json; }\n' +
  `${neighbor(Y.leaf, '2001:db8:0:6::1', 65001, 'receive { parsed; update; }')}` +
  `${neighbor(Y.far, '2001:db8:0:7::2', 65003, '')}`;

test('cnpctl doctor --remote: a router between that drops attribute 39 is found', async () => {
  await leaf.reload(leafIn([65020, 65003, 65030]));
  await far.reload(farIn([65001, 65020, 65030]));
  const y = new ExaBgp(bgp.net.lab, 'y');
  // Its AS path is shorter than BIRD's: the path without the attribute is the best one.
  await y.start(CONFIG, FORGETFUL);
  try {
    // Without a proxy `far` may also be while it reads its new file: what the doctor finds is waited for itself.
    const { code, report, text } = await until('every path arrives without the attribute', compared, (found) => {
      return found.report.paths.every(({ arrival }) => arrival === 'without-attribute') && found;
    });
    expect(code).toBe(1);
    expect(report.paths.map(({ prefix }) => prefix).sort()).toEqual([...BOTH].sort());
    await until(
      'far has no proxy',
      () => far.get('senders'),
      (all) => all.every((row) => row['proxy'] === undefined),
    );
    expect(text).toContain('sent it without attribute 39');
  } finally {
    await y.stop();
  }
});
