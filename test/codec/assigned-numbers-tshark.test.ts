// The table of values that are assigned already (src/model/assigned-numbers.ts), compared with what Wireshark's
// dissectors know by name: nothing that they know is free.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { collisions } from '../../src/model/assigned-numbers.ts';
import type { CodePointName } from '../../src/model/code-points.ts';

/** `V`, field, value, name; what is for experiments or private use is not somebody's. */
const KNOWN = execFileSync('tshark', ['-G', 'values'], {
  encoding: 'utf8',
  maxBuffer: 256 << 20,
  stdio: ['ignore', 'pipe', 'ignore'],
})
  .split('\n')
  .map((line) => line.split('\t'))
  .filter(
    ([kind, , value, name]) =>
      kind === 'V' && value !== undefined && name !== undefined && !/^Experimental \(|private/i.test(name),
  )
  .map(([, field, value, name]) => ({ field, value: Number(value), name: name! }));
const isAssigned = (code: CodePointName, value: number): boolean => collisions({ [code]: value }).length > 0;

test.each([
  ['long-haul-icmpv6-type', 'icmpv6.type', 128, 255, 35],
  ['fast-cnp-option', 'ipv6.opt.type', 0x80, 0x9f, 3],
  ['fast-cnp-ioam-option', 'ipv6.opt.type', 0x80, 0x9f, 3],
  ['long-haul-object-class', 'icmp.ext.class', 1, 255, 3],
  ['end-con-behavior', 'bgp.prefix_sid.srv6_l3vpn.srv6_endpoint_behavior', 1, 65_534, 60],
  ['ospfv2-private-opaque-type', 'ospf.lsid_opaque_type', 128, 255, 0],
] as const)('%s: what %s names is assigned', (code, field, min, max, least) => {
  const known = KNOWN.filter((row) => row.field === field && row.value >= min && row.value <= max);
  expect(known.length).toBeGreaterThanOrEqual(least);
  expect(known.filter(({ value }) => !isAssigned(code, value))).toEqual([]);
});

test('long-haul-icmpv6-type: and nothing else is, so that no free value is refused', () => {
  const known = new Set(KNOWN.filter(({ field }) => field === 'icmpv6.type').map(({ value }) => value));
  expect(
    Array.from({ length: 128 }, (_, i) => i + 128).filter(
      (value) => isAssigned('long-haul-icmpv6-type', value) && !known.has(value),
    ),
  ).toEqual([]);
});

test('pnc-udp-port: the ports of what routers and RoCEv2 networks speak, where Wireshark expects them, are not free', () => {
  const spoken =
    /^(?:bfd|bootp|dhcp|dhcpv6|dns|geneve|gtp|hsrp|isakmp|ldp|l2tp|mdns|mpls-echo|nfs|ntp|ptp|rip|ripng|rpcordma|snmp|syslog|sflow|vxlan|infiniband|udpencap|twamp|cflow|gue|stamp|teredo|radius)$/;
  const decoders = execFileSync('tshark', ['-G', 'decodes'], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .split('\n')
    .map((line) => line.split('\t'));
  const ports = decoders
    .filter(([table, , decoder]) => table === 'udp.port' && spoken.test(decoder ?? ''))
    .map(([, port, decoder]) => ({ port: Number(port), decoder }));
  expect(ports.length).toBeGreaterThan(15);
  // 0 is no port, and 8161 is one vendor's habit.
  expect(ports.filter(({ port }) => port !== 0 && port !== 8161 && !isAssigned('pnc-udp-port', port))).toEqual([]);
});
