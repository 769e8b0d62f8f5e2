// The client of gobgpd against real ones: Debian's version 3, and version 4 where CNPD_GOBGPD_V4 names a binary. Two of
// them in a namespace are neighbors on its loopback interface.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type GobgpOptions, OWN_IDENTIFIER, type OwnPath, isOwn } from '../../src/carriers/bgp/gobgp/gobgp.ts';
import { address } from '../../src/model/address.ts';
import { type Prefix, prefix } from '../../src/model/prefix.ts';
import {
  BINARIES,
  type GobgpBinary,
  type Gobgpd,
  GobgpNetwork,
  type GobgpdOptions,
  Listening,
  needsCli,
} from './support/gobgp.ts';
import { is, moreThan, until } from '../support/until.ts';

/** Header next hop and the PNC characteristic of 192.0.2.1. */
const NHC = Buffer.from('00020110' + '20010db8000000000000000000000009' + 'ffdc0004c0000201', 'hex');
const own = (text: string, nhc: Uint8Array = NHC): OwnPath => ({
  prefix: prefix(text),
  nextHop: address(text.includes(':') ? '2001:db8::9' : '192.0.2.9'),
  nhc,
  communities: [0xffff_ff01],
  largeCommunities: [[65001, 2, 3]],
});
/** Distinct prefixes of both families. */
const many = (count: number): OwnPath[] =>
  Array.from({ length: count }, (_, i) =>
    own(i % 2 === 0 ? `2001:db8:${(i >> 1).toString(16)}::/48` : `10.${(i >> 9) & 255}.${(i >> 1) & 255}.0/24`),
  );

let net: GobgpNetwork;
const listen = (daemon: { readonly target: string }, options: Partial<GobgpOptions> = {}): Listening =>
  net.listen(daemon, options);

beforeAll(() => void (net = new GobgpNetwork('t-gobgp')));
afterEach(() => net.stopAll());
afterAll(() => net?.remove());

/** near, which the client under test looks at, and far, its neighbor of the same AS. */
async function pair(
  binary: GobgpBinary,
  near: Partial<GobgpdOptions> = {},
  far: Partial<GobgpdOptions> = {},
): Promise<{ readonly near: Gobgpd; readonly far: Gobgpd }> {
  const daemons = {
    near: net.start(binary, {
      as: 65001,
      address: '127.0.0.1',
      neighbors: [{ address: '127.0.0.2', as: 65001 }],
      ...near,
    }),
    far: net.start(binary, {
      as: 65001,
      address: '127.0.0.2',
      neighbors: [{ address: '127.0.0.1', as: 65001 }],
      ...far,
    }),
  };
  return daemons;
}

describe.each(BINARIES)('gobgpd $name', (binary) => {
  const start = (options: GobgpdOptions = { as: 65001 }): Gobgpd => net.start(binary, options);

  test('PNC-5.4-a: cnpd finds out which API answers, and puts paths in with attribute 39 as it is, communities and its identifier', async (context) => {
    needsCli(binary, context);
    const daemon = start();
    const heard = await listen(daemon).ready();
    expect(heard.about).toEqual({ api: binary.name, as: 65001, routerId: '192.0.2.1' });
    await heard.client.add([own('10.1.0.0/16'), own('2001:db8:1::/64')]);
    await until('both are reported', () => heard.routes.size, is(2));
    for (const [text, nextHop] of [
      ['10.1.0.0/16', '192.0.2.9'],
      ['2001:db8:1::/64', '2001:db8::9'],
    ] as const) {
      const [path] = heard.routes.get(text)!;
      expect(path).toEqual({
        identifier: OWN_IDENTIFIER,
        neighbor: undefined,
        neighborAs: expect.any(Number) as number,
        nextHop: address(nextHop),
        nhc: new Uint8Array(NHC),
        asPath: [],
        med: 0,
        best: true,
      });
    }
    const shown = daemon.cli('global', 'rib', '-a', 'ipv6');
    expect(shown).toContain('Type: BGPAttrType(39)');
    expect(shown).toContain('no-export');
    expect(shown).toContain('65001:2:3');
  });

  test('withdrawing takes out cnpd’s own path of a prefix and leaves the operator’s; so does replacing', async (context) => {
    needsCli(binary, context);
    const daemon = start();
    const heard = await listen(daemon).ready();
    daemon.cli('global', 'rib', 'add', '10.1.0.0/16', 'nexthop', '192.0.2.77');
    daemon.cli('global', 'rib', 'add', '-a', 'ipv6', '2001:db8:1::/64', 'nexthop', '2001:db8::77');
    const prefixes = ['10.1.0.0/16', '2001:db8:1::/64'];
    await heard.client.add(prefixes.map((p) => own(p)));
    // Once more, with another attribute: replaces cnpd's own alone.
    await heard.client.add(prefixes.map((p) => own(p, Buffer.concat([NHC, Buffer.from('ffdd0000', 'hex')]))));
    const all = await listen(daemon, { learn: 'all' }).ready();
    expect(all.routes.get('10.1.0.0/16')).toHaveLength(2);
    expect(all.hops('10.1.0.0/16').sort()).toEqual(['192.0.2.77', '192.0.2.9']);
    await heard.client.withdraw(prefixes.map((p) => prefix(p)));
    const after = await listen(daemon, { learn: 'all' }).ready();
    expect([...after.routes.keys()].sort()).toEqual(prefixes);
    expect(after.hops('10.1.0.0/16')).toEqual(['192.0.2.77']);
    expect(after.hops('2001:db8:1::/64')).toEqual(['2001:db8::77']);
    // What is not there cannot be withdrawn, and that is no failure.
    await heard.client.withdraw([prefix('10.99.0.0/16')]);
    expect(daemon.cli('global', 'rib')).toContain('192.0.2.77');
  });

  test('another life of cnpd knows its own paths by their identifier, also where another’s is the best', async (context) => {
    needsCli(binary, context);
    const daemon = start();
    const first = await listen(daemon).ready();
    await first.client.add([own('10.1.0.0/16'), own('10.2.0.0/16')]);
    daemon.cli('global', 'rib', 'add', '10.2.0.0/16', 'nexthop', '192.0.2.77', 'local-pref', '500');
    await first.client.close();
    const second = await listen(daemon).ready();
    expect(second.routes.get('10.1.0.0/16')!.map(isOwn)).toEqual([true]);
    expect(second.routes.get('10.2.0.0/16')!.map((path) => [isOwn(path), path.best])).toEqual([
      [false, true],
      [true, false],
    ]);
    // The other's goes: cnpd's is the best now. It comes back: both are reported.
    daemon.cli('global', 'rib', 'del', '10.2.0.0/16', 'nexthop', '192.0.2.77');
    await until('own alone', () => second.hops('10.2.0.0/16').join(), is('192.0.2.9'));
    daemon.cli('global', 'rib', 'add', '10.2.0.0/16', 'nexthop', '192.0.2.78', 'local-pref', '500');
    await until('both', () => second.hops('10.2.0.0/16').join(), is('192.0.2.78,192.0.2.9'));
  });

  test('PNC-5.4-a: paths of a neighbor are learned with AS path, MED and attribute 39, follow their changes and go with the session', async (context) => {
    needsCli(binary, context);
    const { near, far } = await pair(binary);
    const [heard, there] = await Promise.all([listen(near).ready(), listen(far).ready()]);
    await there.client.add([own('2001:db8:1::/64')]);
    far.cli('global', 'rib', 'add', '10.2.0.0/16', 'nexthop', '192.0.2.7', 'aspath', '65010,65011', 'med', '50');
    const learned = await until(
      'both are learned',
      () => heard.routes,
      (routes) => routes.size === 2 && routes,
    );
    expect(learned.get('2001:db8:1::/64')).toEqual([
      {
        identifier: 0,
        neighbor: '127.0.0.2',
        neighborAs: 65001,
        nextHop: address('2001:db8::9'),
        nhc: new Uint8Array(NHC),
        asPath: [],
        med: 0,
        best: true,
      },
    ]);
    expect(learned.get('10.2.0.0/16')).toEqual([
      {
        identifier: 0,
        neighbor: '127.0.0.2',
        neighborAs: 65001,
        nextHop: address('192.0.2.7'),
        asPath: [{ type: 'sequence', numbers: [65010, 65011] }],
        med: 50,
        best: true,
      },
    ]);
    // What cnpd has put in there is not its own here: the identifier does not travel.
    expect([...learned.values()].flat().filter(isOwn)).toEqual([]);
    await until(
      'the session is shown',
      () => heard.client.peers(),
      (peers) => peers?.some((peer) => peer.state === 'established' && peer.received === 2),
    );
    expect(await heard.client.peers()).toEqual([
      {
        address: '127.0.0.2',
        as: 65001,
        state: 'established',
        families: ['ipv4-unicast', 'ipv6-unicast'],
        received: 2,
        advertised: 0,
      },
    ]);
    far.cli('global', 'rib', 'add', '10.2.0.0/16', 'nexthop', '192.0.2.8', 'med', '51');
    await until('the next hop changes', () => heard.hops('10.2.0.0/16').join(), is('192.0.2.8'));
    await there.client.withdraw([prefix('2001:db8:1::/64')]);
    await until('it is withdrawn', () => heard.routes.size, is(1));
    await far.kill();
    await until('all goes with the session', () => heard.routes.size, is(0));
    expect((await heard.client.peers())?.[0]!.state).not.toBe('established');
  });

  test('over a session with ADD-PATH the identifier is gobgpd’s, not cnpd’s', async (context) => {
    needsCli(binary, context);
    const { near, far } = await pair(
      binary,
      { neighbors: [{ address: '127.0.0.2', as: 65001, addPaths: 'receive' }] },
      { neighbors: [{ address: '127.0.0.1', as: 65001, addPaths: 'send' }] },
    );
    const [heard, there] = await Promise.all([listen(near, { learn: 'all' }).ready(), listen(far).ready()]);
    await there.client.add([own('10.1.0.0/16')]);
    far.cli('global', 'rib', 'add', '10.1.0.0/16', 'nexthop', '192.0.2.77');
    const paths = await until(
      'both are learned',
      () => heard.routes.get('10.1.0.0/16'),
      (found) => found?.length === 2 && found,
    );
    const identifiers = paths.map((path) => path.identifier);
    expect(new Set(identifiers).size).toBe(2);
    expect(identifiers).not.toContain(OWN_IDENTIFIER);
  });

  test.for([false, true])(
    '`learn: all` reports every path, `learn: best` the best one, as they come and go (use-multiple-paths: %s)',
    async (multipath, context) => {
      needsCli(binary, context);
      const daemon = start({ as: 65001, multipath });
      const [all, best] = await Promise.all([listen(daemon, { learn: 'all' }).ready(), listen(daemon).ready()]);
      const add = (id: string, nextHop: string, localPref: string): string =>
        daemon.cli(
          'global',
          'rib',
          'add',
          '10.1.0.0/16',
          'identifier',
          id,
          'nexthop',
          nextHop,
          'local-pref',
          localPref,
        );
      const answered = (hops: string): Promise<unknown> =>
        until(`the best is ${hops}`, () => best.hops('10.1.0.0/16').join(), is(hops));
      add('1', '192.0.2.1', '100');
      await answered('192.0.2.1');
      add('2', '192.0.2.2', '200');
      await answered('192.0.2.2');
      await until('both', () => all.hops('10.1.0.0/16').join(), is('192.0.2.2,192.0.2.1'));
      // As good as the other: several are best where gobgpd may use several.
      add('3', '192.0.2.3', '200');
      const third = await listen(daemon, { learn: 'all' }).ready();
      expect(third.hops('10.1.0.0/16')).toHaveLength(3);
      await answered(third.hops('10.1.0.0/16')[0]!);
      const del = (id: string, nextHop: string): string =>
        daemon.cli('global', 'rib', 'del', '10.1.0.0/16', 'identifier', id, 'nexthop', nextHop);
      del('2', '192.0.2.2');
      await answered('192.0.2.3');
      del('3', '192.0.2.3');
      await answered('192.0.2.1');
      await until('one', () => all.hops('10.1.0.0/16').join(), is('192.0.2.1'));
      del('1', '192.0.2.1');
      await answered('');
    },
  );

  test('50,000 paths come without a message over the configured size, a few hundred at a time', async () => {
    const daemon = start();
    const source = await listen(daemon).ready();
    const paths = many(50_000);
    await source.client.add(paths);
    const heard = await listen(daemon, { maxMessageBytes: 4096 }).ready();
    expect(heard.routes.size).toBe(paths.length);
    expect(heard.lost).toEqual([]);
    expect(heard.most).toBeLessThan(1000);
  });

  test('what changes while the table is listed is neither lost nor overwritten by the list', async () => {
    const daemon = start();
    const source = await listen(daemon).ready();
    const paths = many(10_000);
    await source.client.add(paths);
    const heard = listen(daemon);
    await until('the list has begun', () => heard.routes.size, moreThan(0));
    const gone: Prefix[] = paths.slice(5000).map((path) => path.prefix);
    await Promise.all([source.client.withdraw(gone), heard.ready()]);
    await source.client.add([own('10.255.255.0/24')]);
    await until(
      'the last change',
      () => heard.routes,
      (all) => all.has('10.255.255.0/24'),
    );
    const truth = await listen(daemon).ready();
    expect([...heard.routes.keys()].sort()).toEqual([...truth.routes.keys()].sort());
    expect(truth.routes.size).toBe(5001);
  });

  test('gobgpd killed in the middle of a list, and of paths that are put in: everything is reported again when it is back', async () => {
    const daemon = start();
    const source = await listen(daemon).ready();
    await source.client.add(many(20_000));
    const heard = listen(daemon);
    await until('the list has begun', () => heard.routes.size, moreThan(0));
    const adding = source.client.add(many(20_000)).then(
      () => 'all are in',
      (error: Error) => error.message,
    );
    await daemon.kill();
    expect(await adding).not.toBe('all are in');
    await until(
      'it is lost',
      () => [heard.lost.length, source.lost.length] as const,
      ([a, b]) => a > 0 && b > 0,
    );
    expect(heard.listed).toBe(0);
    await expect(heard.client.add([own('10.1.0.0/16')])).rejects.toThrow('not connected');
    daemon.start();
    await source.ready(2);
    await source.client.add([own('10.3.0.0/16')]);
    await heard.ready();
    await until('what there is now', () => [...heard.routes.keys()].join(), is('10.3.0.0/16'));
  });

  test('BGP is not started in gobgpd: cnpd waits, and reports why', async (context) => {
    needsCli(binary, context);
    const daemon = net.start(binary, undefined);
    const heard = listen(daemon);
    await until(
      'it is reported',
      () => heard.lost,
      (all) => all.some((reason) => reason.includes('BGP is not started')),
    );
    daemon.cli('global', 'as', '65009', 'router-id', '192.0.2.9', 'listen-port', '1790');
    await heard.ready();
    expect(heard.about).toMatchObject({ as: 65009, routerId: '192.0.2.9' });
  });

  test('a message over the configured size is refused by name', async () => {
    const daemon = start();
    await (await listen(daemon).ready()).client.add([own('10.1.0.0/16', Buffer.alloc(3000))]);
    const heard = listen(daemon, { maxMessageBytes: 2000 });
    await until(
      'it is refused',
      () => heard.lost,
      (all) => all.some((reason) => reason.includes('more than 2000 bytes')),
    );
  });

  describe('TLS', () => {
    const openssl = (...args: string[]): Buffer =>
      execFileSync('openssl', args, { cwd: net.directory, stdio: ['ignore', 'pipe', 'pipe'] });
    const file = (name: string): string => join(net.directory, name);
    const certificate = (name: string): void =>
      void openssl(
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        `${name}.key`,
        '-out',
        `${name}.pem`,
        '-subj',
        `/CN=${name}`,
        '-addext',
        `subjectAltName=DNS:${name}`,
      );

    // gobgpd asks for a client's certificate from version 4 on.
    const mutual = binary.name === 'v4';
    test('the right certificates are taken, a wrong one is refused, a missing file is named', async () => {
      certificate('gobgpd.test');
      certificate('cnpd.test');
      const tls = [
        '--tls',
        '--tls-cert-file',
        file('gobgpd.test.pem'),
        '--tls-key-file',
        file('gobgpd.test.key'),
        ...(mutual ? ['--tls-client-ca-file', file('cnpd.test.pem')] : []),
      ];
      const daemon = start({ as: 65001, args: tls });
      const right = {
        ca: file('gobgpd.test.pem'),
        ...(mutual && { certificate: file('cnpd.test.pem'), key: file('cnpd.test.key') }),
        serverName: 'gobgpd.test',
      };
      const heard = await listen(daemon, { tls: right }).ready();
      await heard.client.add([own('10.1.0.0/16')]);
      const refused: readonly (readonly [Partial<NonNullable<GobgpOptions['tls']>>, RegExp])[] = [
        [{ ca: file('cnpd.test.pem') }, /certificate/i],
        [{ serverName: 'other.test' }, /other\.test|altnames/i],
        ...(mutual ? ([[{ certificate: file('gobgpd.test.pem'), key: file('gobgpd.test.key') }, /./]] as const) : []),
        [{ ca: file('nowhere.pem') }, /nowhere\.pem/],
      ];
      for (const [wrong, reason] of refused) {
        const other = listen(daemon, { tls: { ...right, ...wrong } });
        await until('it is refused', () => other.lost.length, moreThan(0));
        expect(other.lost[0]).toMatch(reason);
        expect(other.about).toBeUndefined();
      }
      const plain = listen(daemon);
      await until('plain text is refused', () => plain.lost.length, moreThan(0));
    });
  });

  test('gobgpd that stops answering is given up, and taken up again', async () => {
    const daemon = start();
    const heard = await listen(daemon).ready();
    daemon.signal('SIGSTOP');
    await until(
      'it is given up',
      () => heard.lost,
      (all) => all.some((reason) => reason.includes('does not answer')),
      60_000,
    );
    daemon.signal('SIGCONT');
    await heard.ready(2);
  });
});

describe('what is no gobgpd', () => {
  test.each([
    ['accepts and never answers', () => {}, /does not answer/],
    [
      'speaks garbage',
      (socket: { write(text: string): void }) => socket.write('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n'.repeat(50)),
      /./,
    ],
    ['closes at once', (socket: { destroy(): void }) => socket.destroy(), /./],
  ] as const)('one that %s is given up with a reason, and tried again', async (_, behavior, reason) => {
    const path = join(net.directory, `${Math.random()}.sock`);
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.on('error', () => {});
      behavior(socket);
    }).listen(path);
    try {
      const heard = listen({ target: `unix:${path}` });
      await until('it is tried again', () => connections, moreThan(1), 60_000);
      expect(heard.lost[0]).toMatch(reason);
      expect(heard.listed).toBe(0);
    } finally {
      server.close();
    }
  });

  test('nothing listens: the reason shows it', async () => {
    const heard = listen({ target: `unix:${join(net.directory, 'nobody.sock')}` });
    await until('it is lost', () => heard.lost.length, moreThan(1));
    expect(heard.lost[0]).toMatch(/ENOENT|No connection/);
    expect(await heard.client.peers()).toBeUndefined();
  });
});
