import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { load } from '../../intent/files.fixture.ts';
import type { BgpPeerState } from '../../model/carrier-state.ts';
import type { GobgpFaultCode } from '../../model/gobgp-fault.ts';
import type { GobgpAnswer } from '../../carriers/bgp/gobgp/ask.edge.ts';
import { checkGobgp, examineGobgp, neededFamilies } from './check.ts';
import { gobgpRemedy, policyRemedy, refusalRemedy } from './remedies.ts';

const ROUTER = 'router: { name: r1, loopback: { ipv4: 192.0.2.1, ipv6: 2001:db8::1 } }\n';
const PROXY =
  'proxy: { address: 2001:db8::1, senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }], ' +
  'accept-from: [2001:db8::/32] }\n';
const intent = (more = PROXY, bgp = 'bgp: {}\n') => load(`${ROUTER}${bgp}${more}`);
const peer = (address: string, families: string[], state: BgpPeerState['state'] = 'established'): BgpPeerState => ({
  address,
  as: 65_001,
  state,
  families,
  received: 0,
  advertised: 0,
});
const says = (...peers: BgpPeerState[]): GobgpAnswer => ({
  about: { api: 'v3', as: 65_001, routerId: '192.0.2.1' },
  peers,
  policies: 'in force',
});
const check = (answer: GobgpAnswer, of = intent()) => checkGobgp(of, of.bgp!, answer);
const BOTH = ['ipv4-unicast', 'ipv6-unicast'];

describe('cnpctl doctor on gobgpd', () => {
  test('its identity, its neighbors, and the family that is needed', () => {
    expect(check(says(peer('192.0.2.9', BOTH)))).toEqual([
      { id: 'gobgp', claim: 'gobgpd answers at 127.0.0.1:50051: API v3, AS 65001, router ID 192.0.2.1', state: 'ok' },
      { id: 'gobgp.neighbors', claim: 'gobgpd has established neighbors: 192.0.2.9 (AS 65001)', state: 'ok' },
      { id: 'gobgp.ipv6-unicast', claim: 'ipv6-unicast is negotiated with 192.0.2.9', state: 'ok' },
    ]);
  });

  test('a gobgpd that does not answer: why, and what to do', () => {
    expect(check({ fault: { code: 'not-there', reason: 'connect ECONNREFUSED 127.0.0.1:50051' } })).toEqual([
      expect.objectContaining({
        id: 'gobgp',
        state: 'missing',
        problem: expect.stringContaining('ECONNREFUSED'),
        remedy: expect.stringContaining('--api-hosts 127.0.0.1:50051'),
      }),
    ]);
  });

  test('no neighbor, or no established one; checks that depend on one are unknown', () => {
    expect(check(says()).map(({ id, state }) => [id, state])).toEqual([
      ['gobgp', 'ok'],
      ['gobgp.neighbors', 'missing'],
      ['gobgp.ipv6-unicast', 'unknown'],
    ]);
    expect(check(says(peer('192.0.2.9', [], 'active')))[1]).toMatchObject({
      state: 'missing',
      problem: "none of gobgpd's neighbors is established: 192.0.2.9 is active",
    });
  });

  test('a family that is negotiated with no neighbor: the configuration of both ends', () => {
    expect(check(says(peer('192.0.2.9', ['ipv4-unicast'])))[2]).toMatchObject({
      id: 'gobgp.ipv6-unicast',
      state: 'missing',
      problem: expect.stringContaining('none of 192.0.2.9'),
      remedy: expect.stringMatching(/afi-safi-name = "ipv6-unicast".*address-family ipv6 unicast/),
    });
  });

  test('one neighbor with the family is enough, and the others are named', () => {
    expect(check(says(peer('192.0.2.8', ['ipv4-unicast']), peer('192.0.2.9', BOTH)))[2]).toMatchObject({
      state: 'ok',
      claim: 'ipv6-unicast is negotiated with 192.0.2.9, not with 192.0.2.8',
    });
  });

  test('families: of senders with a next hop, of host routes, and of senders that are notified through proxies', () => {
    expect(neededFamilies(intent())).toEqual([6]);
    expect(neededFamilies(intent(''))).toEqual([]);
    expect(neededFamilies(intent(PROXY, 'bgp: { next-hop: [192.0.2.1] }\n'))).toEqual([]);
    expect(neededFamilies(intent('stamp: { reflector: on, accept-from: [2001:db8::/32] }\n'))).toEqual([4, 6]);
    const ports = 'ports: [{ interface: eth1, k-max: 50kB }]\n';
    // Without `notifications` every sender is notified through its proxy.
    expect(neededFamilies(intent(ports))).toEqual([4, 6]);
    expect(
      neededFamilies(
        intent(`${ports}notifications: { enabled: off, senders: [{ prefix: "::/0", order: [fast-cnp] }] }\n`),
      ),
    ).toEqual([4, 6]);
    expect(
      neededFamilies(
        intent(
          `${ports}notifications: { senders: [{ prefix: 198.51.100.0/24, order: [proxy] }, ` +
            '{ prefix: "::/0", order: [fast-cnp] }] }\n',
        ),
      ),
    ).toEqual([4]);
  });

  test('a family that the file does not name may be absent if the other is negotiated', () => {
    const congested = intent('ports: [{ interface: eth1, k-max: 50kB }]\n');
    const states = (families: string[], of = congested): unknown =>
      check(says(peer('192.0.2.9', families)), of)
        .slice(2)
        .map(({ id, state }) => [id, state]);
    expect(states(BOTH)).toEqual([
      ['gobgp.ipv4-unicast', 'ok'],
      ['gobgp.ipv6-unicast', 'ok'],
    ]);
    expect(states(['ipv4-unicast'])).toEqual([
      ['gobgp.ipv4-unicast', 'ok'],
      ['gobgp.ipv6-unicast', 'warning'],
    ]);
    expect(states([])).toEqual([
      ['gobgp.ipv4-unicast', 'missing'],
      ['gobgp.ipv6-unicast', 'missing'],
    ]);
    expect(states(['ipv4-unicast'], intent(`ports: [{ interface: eth1, k-max: 50kB }]\n${PROXY}`))).toEqual([
      ['gobgp.ipv4-unicast', 'ok'],
      ['gobgp.ipv6-unicast', 'missing'],
    ]);
  });

  test(
    'PNC-6-a: with policy: off a neighbor that is not of the domain gets what is meant for the domain: ' +
      'a warning, with what to do about it',
    () => {
      const domain = (...neighbors: BgpPeerState[]) =>
        check(says(...neighbors), intent(PROXY, 'bgp: { domain: [65010], policy: off }\n')).find(
          ({ id }) => id === 'gobgp.domain',
        );
      const [inside, member, outside] = [
        peer('192.0.2.9', BOTH),
        { ...peer('192.0.2.10', BOTH), as: 65_010 },
        { ...peer('192.0.2.11', [], 'active'), as: 65_003 },
      ];
      expect(domain(inside, member)).toMatchObject({ state: 'ok' });
      expect(domain(inside, member, outside)).toMatchObject({
        state: 'warning',
        problem: expect.stringContaining('neighbor 192.0.2.11, AS 65003, is not of the domain'),
        remedy: expect.stringMatching(/add 65003 to bgp\.domain.*domain-only/),
      });
      // A neighbor whose AS gobgpd does not know yet.
      expect(domain({ ...outside, as: 0 })).toMatchObject({ state: 'ok' });
      // gobgpd sends paths with NO_EXPORT as well.
      const without = check(says(outside), intent(PROXY, 'bgp: { policy: off }\n')).find(
        ({ id }) => id === 'gobgp.domain',
      );
      expect(without).toMatchObject({
        state: 'warning',
        problem: expect.stringContaining('NO_EXPORT or not'),
        remedy: expect.stringContaining('bgp.policy: on'),
      });
    },
  );

  test('PNC-6-a: neighbors outside are no warning while cnpd’s policies are in gobgpd', () => {
    const outside = { ...peer('192.0.2.11', BOTH), as: 65_003 };
    const domain = (policies: 'in force' | 'not in force' | 'unknown') =>
      check({ ...says(outside), policies }).find(({ id }) => id === 'gobgp.domain');
    expect(domain('in force')).toMatchObject({ state: 'ok', claim: expect.stringContaining('192.0.2.11, AS 65003') });
    expect(domain('not in force')).toMatchObject({
      state: 'warning',
      problem: expect.stringContaining('are missing in gobgpd'),
      remedy: expect.stringContaining('start cnpd'),
    });
    expect(domain('unknown')).toMatchObject({ state: 'warning' });
  });

  test('without a bgp section there are no checks', async () => expect(await examineGobgp(load(ROUTER))).toEqual([]));

  test('a bad TLS file is named before any request', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cnpd-pem-'));
    try {
      const ca = join(directory, 'ca.pem');
      for (const content of ['no PEM', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
        writeFileSync(ca, content);
        const [found] = await examineGobgp(
          intent('', `bgp: { gobgp: { target: "127.0.0.1:1", tls: { ca: "${ca}" } } }\n`),
        );
        expect(found).toMatchObject({
          state: 'missing',
          problem: expect.stringContaining(`tls ca is no PEM file with a certificate: ${ca}`),
          remedy: expect.stringContaining('BEGIN CERTIFICATE'),
        });
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('another server is distinguished from gobgpd', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cnpd-other-'));
    const server = createServer((socket) => void socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2\r\n'));
    try {
      const path = join(directory, 'x.sock');
      await new Promise<void>((resolve) => server.listen(path, resolve));
      const [found] = await examineGobgp(intent('', `bgp: { gobgp: { target: "unix:${path}" } }\n`));
      expect(found).toMatchObject({ state: 'missing', remedy: expect.stringContaining('another program') });
    } finally {
      server.close();
      rmSync(directory, { recursive: true });
    }
  });

  test('a gobgpd that is not running: found by a real connection attempt', async () => {
    const [found] = await examineGobgp(intent('', 'bgp: { gobgp: { target: "unix:/nonexistent/gobgpd.sock" } }\n'));
    expect(found).toMatchObject({
      id: 'gobgp',
      state: 'missing',
      remedy: expect.stringContaining('--api-hosts unix:///nonexistent/gobgpd.sock'),
    });
  });
});

describe('what to do about a gobgpd, by the cause', () => {
  test.each<readonly [GobgpFaultCode, string, RegExp]>([
    ['not-there', '127.0.0.1:50051', /--api-hosts 127\.0\.0\.1:50051/],
    ['not-there', 'unix:/run/g.sock', /--api-hosts unix:\/\/\/run\/g\.sock/],
    ['not-there', 'unix:///run/gobgpd.sock', /--api-hosts unix:\/\/\/run\/gobgpd\.sock,/],
    ['other', 'h:1', /^start gobgpd with --api-hosts h:1/],
    ['message-too-long', '127.0.0.1:50051', /max-message/],
    ['not-started', 'h:1', /global\.config/],
    ['unknown-api', 'h:1', /bgp\.gobgp\.target/],
    ['tls-file', 'h:1', /bgp\.gobgp\.tls/],
    ['tls', 'h:1', /bgp\.gobgp\.tls.*--tls-cert-file/],
    ['tls', 'unix:/run/g.sock', /^start gobgpd/],
    ['certificate-time', '127.0.0.1:50051', /^give gobgpd a new certificate.*clock/],
    ['certificate-name', '127.0.0.1:50051', /bgp\.gobgp\.tls\.server-name/],
    ['not-pem', '127.0.0.1:50051', /BEGIN CERTIFICATE/],
    ['no-answer', '127.0.0.1:50051', /restart gobgpd/],
    ['another-program', '127.0.0.1:50051', /another program listens at 127\.0\.0\.1:50051/],
  ])('%s at %s', (code, target, remedy) => expect(gobgpRemedy(target, code)).toMatch(remedy));

  test('if it accepts no path, the remedy is its log, unless the cause is known', () => {
    for (const code of ['other', 'not-there'] as const) expect(refusalRemedy('h:1', code)).toMatch(/^gobgpd's log/);
    expect(refusalRemedy('h:1', 'message-too-long')).toMatch(/max-message/);
  });

  test('if another policy has the name, the remedy is to rename it', () => {
    expect(policyRemedy(true)).toMatch(/^rename it in gobgpd's configuration/);
    expect(policyRemedy(false)).toMatch(/^gobgpd's log/);
  });
});
