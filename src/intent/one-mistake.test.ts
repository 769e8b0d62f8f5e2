// A value that cannot be read is one mistake: it is reported where it is, and no rule takes it for something that
// is missing, a default, or something else.
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { complaints, errorsOf } from './files.fixture.ts';
import { formatPath } from './errors.ts';

type Step = string | number;

/** What no key takes but those that take any text. */
const UNREADABLE = 'no such/thing: \u0007';
/** Whatever depends on something else, once. */
const FULL = `
router: { name: r1, loopback: { ipv4: 192.0.2.1, ipv6: 2001:db8::1 } }
isis: { system-id: 0000.0000.c001, area: 49.0001, level: 1-2, interface: x1, lifetime: 1200s, refresh: 900s, hello-interval: 3s }
ospfv2: { router-id: 192.0.2.201, hello-interval: 5s, dead-interval: 20s, areas: [{ area: 0, interface: x2, link: 192.0.2.4/31 }, { area: 1, interface: x3, link: 192.0.2.6/31 }] }
ospfv3: { router-id: 192.0.2.201, areas: [{ area: 0, interface: x4 }] }
bgp: { gobgp: { target: "gobgpd.example:50051", plaintext: on }, next-hop: [192.0.2.1, 2001:db8::1], domain: [1, 2], communities: ["1:2"], large-communities: ["1:2:3"] }
proxy: { address: [192.0.2.1, 2001:db8::1], interfaces: [eth1], senders: [{ prefix: 2001:db8:1::/64, format: fast-cnp }, { prefix: 10.1.0.0/16, format: standard-cnp }], accept-from: [2001:db8::/32] }
source: { senders: [{ prefix: 2001:db8:1::/48, action: convert, supports: [fast-cnp] }, { prefix: 2001:db8:1::/64, action: pass }], advertise: on, accept-from: [2001:db8::/32] }
flow-control: { mode: priority, watch: [{ interface: wan1, pause-above: 150kB, resume-below: 90kB }, { interface: wan2, pause-above: 300kB }], hold: [lan1], interfaces: [eth1, lan1], pause-above: 250kB, resume-below: 80kB, buffer: 1MB, bandwidth: 1Gbit, neighbors: [{ interface: eth1, address: fe80::1 }], accept-from: [fe80::/10], pause: 1ms, longest-pause: 2ms, watchdog: 3ms, rate: 5/s, priorities: [{ dscp: 46, priority: 5 }] }
ports:
  - { interface: wan1, k-max: auto, k-base: 64kB, alpha: 1, bandwidth: 1Gbit, rtt: probe }
  - { interface: wan2, k-min: 50kB, k-max: 100kB, v-ecn: 50%, v-growth: 1MB/s, measurement-interval: 10ms, rtt: 3ms, ecn: on }
border-ports: [eth9]
border-allow: { inbound: [10.0.0.0/8], outbound: [10.0.0.0/8] }
notifications:
  senders:
    - { prefix: 2001:db8:2::/64, supports: [long-haul-roce, fast-cnp], order: [long-haul-roce, fast-cnp, proxy], ce-with-fast-cnp: off }
    - { prefix: 198.51.100.0/24, supports: [long-haul-roce], order: [long-haul-roce] }
    - { prefix: 2001:db8:3::/64, supports: unknown, order: [fast-cnp, long-haul-icmpv6], ce-with-fast-cnp: on }
  long-haul:
    early: { level: 100, action: notify, parameter: 0 }
    severity: [{ from: 1, level: 180, action: rate-reduce, parameter: 30 }, { from: 2, level: 200, action: rate-reduce, parameter: 40 }]
    escalation: [{ level: 240, action: rate-reduce, parameter: 75 }, { level: 250, action: pause, parameter: 100 }]
    resume: { level: 20, parameter: 50 }
    pad-to-cnp: off
    objects: { timestamp: on }
srv6: { core-ports: [core1, core2], dscp: { pipe: 46 }, end-con: [{ sid: 2001:db8:c::1, locator: 2001:db8:c::/48, table: 10, interfaces: [in1] }, { locator: 2001:db8:d::/48, senders: [2001:db8:9::/64] }] }
stamp: { reflector: on, accept-from: [2001:db8::/32], targets: [2001:db8::9], learn: on, port: 862, interval: 1s }
code-points: { pnc-udp-port: 50021, arn-bit-order: lsb-first, fast-cnp-option: 158, fast-cnp-ioam-option: 157, long-haul-icmpv6-type: 201 }
gnmi: { socket: /run/x.sock }
metrics: { address: "[::1]:9464" }
northbound: { address: 192.0.2.1, port: 9339, certificate: /a.pem, key: /a.key, client-ca: /ca.pem, rights: [{ name: a.example, read: [/cnpd] }] }
log: { level: info }
`;
const TREE: unknown = parse(FULL, { schema: 'failsafe' });

/** The places of all scalars. */
function* scalars(node: unknown, path: readonly Step[] = []): Generator<readonly Step[]> {
  if (typeof node !== 'object' || node === null) {
    yield path;
    return;
  }
  for (const [key, child] of Object.entries(node as Record<string, unknown>))
    yield* scalars(child, [...path, Array.isArray(node) ? Number(key) : key]);
}

function withUnreadable(path: readonly Step[]): string {
  const tree = structuredClone(TREE);
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((node, step) => (node as Record<Step, unknown>)[step], tree) as Record<Step, unknown>;
  parent[path.at(-1)!] = UNREADABLE;
  return stringify(tree);
}

test('each value that cannot be read is one error, at its place', () => {
  expect(complaints(FULL)).toEqual([]);
  const places = [...scalars(TREE)];
  expect(places.length).toBeGreaterThan(100);
  for (const path of places)
    expect({ path: formatPath(path), errorPaths: errorsOf(withUnreadable(path)).map((e) => e.path) }).toEqual({
      path: formatPath(path),
      errorPaths: [formatPath(path)],
    });
});
