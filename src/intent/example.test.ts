import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import { UNASSIGNED, load } from './files.fixture.ts';
import { cnpdSchema } from './schema.ts';

const example = readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8');

const ALL_FORMATS = ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'];

/** The defaults of a port. */
const PORT = {
  'k-base': 64_000,
  alpha: 1,
  'measurement-interval': 10,
  ecn: true,
  'per-flow-interval': 20,
  rate: 1000,
};

describe('docs/cnpd.yaml', () => {
  test('is valid, and every value of it arrives', () => {
    expect(load(example)).toEqual({
      router: {
        name: 'leaf1',
        loopback4: address('192.0.2.1'),
        loopback6: address('2001:db8:ffff::1'),
        reversePathCheck: true,
        corePorts: ['eth3', 'eth4'],
      },
      queuePairs: { ageingMs: 300_000 },
      isis: {
        systemId: Uint8Array.of(0, 0, 0, 0, 0xc0, 1),
        area: Uint8Array.of(0x49, 0, 1),
        levels: '1-2',
        interface: 'cnpd-isis',
        mtu: 1500,
        helloIntervalMs: 3000,
        holdMultiplier: 10,
        lifetimeSeconds: 1200,
        refreshSeconds: 900,
        authentication: {
          interface: { key: 'key-of-the-link' },
          area: { key: 'key-of-level-1' },
          domain: { key: 'key-of-level-2' },
        },
        holdUnreachableMs: 120_000,
      },
      ospfv2: {
        version: 2,
        routerId: 0xc00002c9,
        areas: [
          {
            areaId: 0,
            interface: 'cnpd-ospf0',
            mtu: 1500,
            ignoreMtu: false,
            instanceId: 0,
            link: { router: address('169.254.89.0'), own: address('169.254.89.1'), length: 31 },
            keys: [
              { id: 1, algorithm: 'md5', key: 'md5-of-the-link' },
              { id: 2, algorithm: 'hmac-sha-1', key: 'sha-of-the-link' },
            ],
          },
          {
            areaId: 1,
            interface: 'cnpd-ospf1',
            mtu: 1500,
            ignoreMtu: false,
            instanceId: 0,
            link: { router: address('169.254.89.2'), own: address('169.254.89.3'), length: 31 },
            keys: [],
          },
        ],
        helloSeconds: 10,
        deadSeconds: 40,
        retransmitMs: 5000,
        holdUnreachableMs: 120_000,
      },
      ospfv3: {
        version: 3,
        routerId: 0xc00002c9,
        areas: [
          {
            areaId: 0,
            interface: 'cnpd-ospf6-0',
            mtu: 1500,
            ignoreMtu: false,
            instanceId: 0,
            keys: [
              { id: 1, algorithm: 'hmac-sha-256', key: 'first-of-the-link' },
              { id: 2, algorithm: 'hmac-sha-384', key: 'second-of-the-link' },
              { id: 3, algorithm: 'hmac-sha-512', key: 'third-of-the-link' },
            ],
          },
        ],
        helloSeconds: 10,
        deadSeconds: 40,
        retransmitMs: 5000,
        holdUnreachableMs: 120_000,
      },
      bgp: {
        gobgp: {
          target: '127.0.0.1:50051',
          tls: {
            ca: '/etc/cnpd/gobgp-ca.pem',
            certificate: '/etc/cnpd/cnpd.pem',
            key: '/etc/cnpd/cnpd.key',
            serverName: 'gobgpd.example',
          },
          maxMessageBytes: 4 * 1024 * 1024,
        },
        nextHop4: address('192.0.2.1'),
        nextHop6: address('2001:db8:ffff::1'),
        advertise: 'senders',
        communities: [65_001 * 65_536 + 100, 0xffff_ff04],
        largeCommunities: [[65_001, 1, 2]],
        domain: [65_002, 65_003],
        confederation: [65_101],
        policy: true,
        learn: 'best',
        viaNextHop: false,
        holdUnreachableMs: 120_000,
      },
      proxy: {
        address: address('2001:db8:ffff::1'),
        senders: [
          { prefix: prefix('2001:db8:1::/64'), format: 'standard-cnp' },
          { prefix: prefix('198.51.100.0/24'), format: 'standard-cnp' },
        ],
        acceptFrom: [prefix('2001:db8:ffff::/48')],
        interfaces: ['eth1', 'eth2'],
        perFlowIntervalMs: 0.05,
        noticesPerSecond: 10_000,
      },
      source: {
        senders: [
          { prefix: prefix('2001:db8:1::/64'), action: 'convert', supports: ALL_FORMATS },
          { prefix: prefix('2001:db8:2::/64'), action: 'pass', supports: ['fast-cnp'] },
          { prefix: prefix('2001:db8:4::/64'), action: 'enforce', supports: ALL_FORMATS },
        ],
        advertise: true,
        enforce: {
          ports: ['eth1'],
          bandwidth: 10e9,
          rttMs: 20,
          response: 0.5,
          queueing: 'auto',
          buffer: 4_000_000,
          flows: 4096,
          ioam: { target: 0.95, capacity: 10e9, queueUnit: 1, txBytes: 'none', timestamp: 'posix' },
        },
        acceptFrom: [prefix('2001:db8:ffff::/48')],
        interfaces: ['eth2'],
        icrc: 'cover',
        perFlowIntervalMs: 0.05,
        perSecond: 10_000,
      },
      flowControl: {
        mode: 'service',
        watch: [{ interface: 'eth2', above: 400_000, below: 150_000 }],
        hold: ['eth5'],
        interfaces: ['eth1', 'eth5'],
        above: 200_000,
        below: 100_000,
        bandwidth: 100e9,
        buffer: 4_000_000,
        neighbors: [{ interface: 'eth1', address: address('fe80::1') }],
        acceptFrom: [prefix('fe80::/10')],
        pauseMs: 10,
        longestPauseMs: 100,
        watchdogMs: 1000,
        perSecond: 1000,
        priorities: [{ dscp: 46, priority: 5 }],
      },
      ports: [
        { interface: 'eth2', 'k-min': 50_000, 'k-max': 100_000, rtt: 'probe', ...PORT },
        {
          interface: 'eth3',
          'k-max': 'auto',
          bandwidth: 10e9,
          'v-ecn': 0.5,
          'v-growth': 10e6,
          ...PORT,
          rtt: 10,
        },
        { interface: 'eth4', 'k-max': 1_000_000, rtt: 'probe', ...PORT, ecn: false },
      ],
      notifications: {
        senders: [
          {
            prefix: prefix('2001:db8:1::/64'),
            supports: 'unknown',
            order: ['fast-cnp', 'long-haul-icmpv6', 'proxy'],
            markCeWithFastCnp: true,
          },
          {
            prefix: prefix('198.51.100.0/24'),
            supports: ['long-haul-roce'],
            order: ['long-haul-roce'],
            markCeWithFastCnp: false,
          },
          {
            prefix: prefix('2001:db8::/32'),
            supports: 'advertised',
            order: ['long-haul-icmpv6', 'fast-cnp', 'proxy'],
            markCeWithFastCnp: true,
          },
          { prefix: prefix('::/0'), supports: 'unknown', order: ['proxy'], markCeWithFastCnp: true },
        ],
        capabilityExpiryMs: 600_000,
        fastCnp: { icrc: 'cover' },
        longHaul: {
          early: { level: 100, action: 'notify', parameter: 0 },
          severity: [
            { kMaxRatio: 1, level: 180, action: 'rate-reduce', parameter: 30 },
            { kMaxRatio: 1.25, level: 205, action: 'rate-reduce', parameter: 40 },
            { kMaxRatio: 1.5, level: 230, action: 'rate-reduce', parameter: 50 },
          ],
          escalation: [
            { level: 245, action: 'rate-reduce', parameter: 75 },
            { level: 255, action: 'pause', parameter: 'rtt' },
          ],
          resume: { level: 20, action: 'resume', parameter: 50 },
          contribution: 0.5,
          deferralReduction: 0.1,
          disclose: true,
          objects: { timestamp: false, deviceId: 'leaf1', pathId: 7 },
          padToCnp: false,
        },
      },
      srv6: {
        endCon: [
          {
            sid: address('2001:db8:c::1'),
            locator: prefix('2001:db8:c::/48'),
            table: 254,
            interfaces: ['eth1'],
            senders: [prefix('2001:db8:1::/64')],
          },
        ],
        endMt: { sid: address('2001:db8:c::2'), locator: prefix('2001:db8:c::/48') },
        replication: { sid: address('2001:db8:c::3'), locator: prefix('2001:db8:c::/48') },
        multicast: { settleMs: 500, stallMs: 10_000, dropStalled: false, tlvLimit: 512 },
        corePorts: ['eth3'],
        ecnMode: 'normal',
        dscpModel: { kind: 'pipe', outerDscp: 46 },
      },
      groups: [
        {
          name: 'weights',
          proxyAddress: address('2001:db8:aa::1'),
          designatedQpn: 4096,
          source: { address: address('2001:db8:1::10') },
          members: [
            {
              group: address('2001:db8:aa::1'),
              role: 'source',
              address: address('2001:db8:1::10'),
              qpn: 4096,
              node: address('2001:db8:c::3'),
              psnDelta: 0,
            },
            {
              group: address('2001:db8:aa::1'),
              role: 'receiver',
              address: address('2001:db8:2::10'),
              qpn: 200,
              node: address('2001:db8:e::2'),
              psnDelta: 0,
              write: { vaDelta: 0n, rKey: 4660 },
            },
          ],
          ...{ cnpWindowMs: 0.05, copiesPerSecond: 10_000_000, rewriteSource: true },
          branches: [{ node: address('2001:db8:c::3'), children: [address('2001:db8:e::2')] }],
        },
      ],
      stamp: {
        reflector: true,
        acceptFrom: [prefix('2001:db8:ffff::/48')],
        udpPort: 862,
        intervalMs: 1000,
        targets: [address('2001:db8:ffff::9')],
        learnTargets: true,
        hmacKey: 'key-of-all-probers',
      },
      borderPorts: ['eth9'],
      borderAllow: { inbound: [prefix('2001:db8:fffe::/48')], outbound: [prefix('2001:db8:fffe::/48')] },
      codePoints: UNASSIGNED,
      arnBitOrder: 'msb-first',
      gnmiSocket: '/run/cnpd/gnmi.sock',
      gnmiSocketGroup: 'adm',
      gnmiSetGroup: 'adm',
      metrics: { address: '::1', port: 9464 },
      northbound: {
        ...{ address: '::', port: 9339 },
        tls: {
          certificate: '/etc/cnpd/router.pem',
          key: '/etc/cnpd/router.key',
          clientCa: '/etc/cnpd/clients-ca.pem',
        },
        rights: [
          { name: 'collector.example', read: ['/cnpd'], write: [] },
          { name: 'scheduler.example', read: ['/cnpd/groups'], write: ['/cnpd/groups'] },
          { name: 'operator.example', read: ['/cnpd'], write: ['/cnpd/configuration'] },
        ],
      },
      logLevel: 'info',
    });
  });

  test('shows every key that the schema knows', () => {
    const keys = new Set<string>();
    JSON.stringify(z.toJSONSchema(cnpdSchema, { io: 'input' }), (key, value: unknown) => {
      if (key === 'properties') for (const name of Object.keys(value as object)) keys.add(name);
      return value;
    });
    expect(keys.size).toBeGreaterThan(80);
    const code = example.replace(/#.*$/gm, '');
    expect([...keys].filter((name) => !new RegExp(`\\b${name}\\s*:`).test(code))).toEqual([]);
  });
});
