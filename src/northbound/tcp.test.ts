import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type Settings, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { create } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { fakeConfig } from './config.fixture.ts';
import { until } from '../../test/support/until.ts';
import { silentLog } from '../model/log.ts';
import { fail, ok } from '../model/result.ts';
import { eventLoopWork } from '../model/work.ts';
import { Certificates } from './certificates.fixture.ts';
import { type TcpTarget, connectNorthbound, setRequest } from './client.ts';
import type { NorthboundDependencies } from './dependencies.ts';
import { CapabilityRequestSchema, GetRequestSchema, gNMI, type Path } from './gen/gnmi/gnmi_pb.js';
import { unary } from './grpc.ts';
import { namesIn } from './rights.ts';
import { type Northbound, startTcpNorthbound } from './server.ts';
import { exampleState, sourceOf } from './state.fixture.ts';
import { onChange, pathTo, Subscriber, subscribeRequest } from './subscribe/subscriber.fixture.ts';
import { type TcpOptions, readTcpSettings } from './tcp.ts';
import { UnreadAnswers } from './unread.ts';

let files: Certificates;
let port: number;
let northbound: Pick<Northbound, 'close'> | undefined;
const counts = new Map<string, number>();
let sets = 0;
const at = (name: string): string => files.at(name);

beforeAll(() => {
  files = new Certificates();
  files.make('ca');
  files.make('other-ca');
  files.make('router', { ca: 'ca', san: 'DNS:localhost' });
  files.make('collector', { ca: 'ca' });
  files.make('scheduler', { ca: 'ca', san: 'DNS:jobs.example,URI:spiffe://x/jobs' });
  files.make('nobody', { ca: 'ca' });
  const hidden = '@names\n[names]\notherName.1=1.3.6.1.4.1.311.20.2.3;UTF8:x, DNS:collector, y\nDNS.1=guest.example';
  files.make('guest', { ca: 'ca', san: hidden });
  files.make('stranger', { ca: 'other-ca' });
  files.make('expired', { ca: 'ca', days: '-1' });
}, 60_000);
afterAll(() => files.remove());

const options = (): TcpOptions => ({
  address: '127.0.0.1',
  port,
  tls: { certificate: at('router.pem'), key: at('router.key'), clientCa: at('ca.pem') },
  rights: [
    { name: 'collector', read: ['/cnpd'], write: [] },
    { name: 'spiffe://x/jobs', read: ['/cnpd/groups'], write: ['/cnpd/groups/group'] },
    { name: 'expired', read: ['/'], write: ['/'] },
    { name: 'stranger', read: ['/'], write: ['/'] },
  ],
});

async function start(
  how: Partial<TcpOptions> = {},
  handshakeMs?: number,
  parts: Partial<NorthboundDependencies> = {},
): Promise<void> {
  const dependencies: NorthboundDependencies = {
    ...parts,
    source: sourceOf(exampleState()),
    work: eventLoopWork(),
    log: silentLog,
    count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
    actions: {
      reload: async () => ({ ok: true, errors: [], changed: [] }),
      set: async () => (sets++, ok(undefined)),
      config: fakeConfig(),
      restartGroup: () => fail({ code: 'conflict' as const, errors: [] }),
      release: () => 0,
      logLevels: () => ok([]),
    },
  };
  northbound = await startTcpNorthbound(readTcpSettings({ ...options(), ...how }), dependencies, handshakeMs);
}

beforeEach(async () => {
  counts.clear();
  sets = 0;
  // A port that is free just now.
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  ({ port } = probe.address() as { port: number });
  await new Promise((resolve) => probe.close(resolve));
});
afterEach(async () => {
  await northbound?.close();
  northbound = undefined;
});

const tlsOf = (name?: string) =>
  name
    ? credentials.createSsl(files.read('ca.pem'), files.read(`${name}.key`), files.read(`${name}.pem`))
    : credentials.createSsl(files.read('ca.pem'));

type Method = 'capabilities' | 'get' | 'set';

/** Resolves to `ok`, or to the code and the text of the refusal. */
async function call(who: string | undefined, method: Method, request: object, tls = true): Promise<string> {
  const client = new Client(`localhost:${port}`, tls ? tlsOf(who) : credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });
  const { path, requestSerialize, responseDeserialize } = unary(gNMI.method[method] as typeof gNMI.method.get);
  try {
    return await new Promise((resolve) =>
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request as never,
        { deadline: Date.now() + 10_000 },
        (error) => resolve(error ? `${error.code}: ${error.details}` : 'ok'),
      ),
    );
  } finally {
    client.close();
  }
}

const get = (who: string | undefined, ...paths: Path[]) => call(who, 'get', create(GetRequestSchema, { path: paths }));
const REFUSED = /^14: /;

describe('gNMI over TCP', () => {
  test('a certificate reads what its name has the right to, and what is below', async () => {
    await start();
    expect(await call('collector', 'capabilities', create(CapabilityRequestSchema))).toBe('ok');
    expect(await get('collector', pathTo('cnpd', 'ports'))).toBe('ok');
    expect(await get('collector', pathTo())).toBe('7: /: "collector" may read /cnpd');
    expect(await get('scheduler', pathTo('cnpd', 'groups', 'group'))).toBe('ok');
    expect(await get('scheduler', pathTo('cnpd', '*', 'group'))).toMatch(/^7: .*may read \/cnpd\/groups/);
    expect(await get('scheduler', pathTo('cnpd', 'groups'), pathTo('cnpd', 'ports'))).toBe(
      '7: /cnpd/ports: "scheduler", "jobs.example", "spiffe://x/jobs" may read /cnpd/groups',
    );
    expect(await get('nobody', pathTo('cnpd', 'status'))).toBe('7: "nobody" may read nothing');
    expect(await get('guest', pathTo('cnpd', 'status'))).toBe('7: "guest", "guest.example" may read nothing');
  });

  test('the text of a client may be cut within a character: it is refused, by unary calls and by streams', async () => {
    await start();
    const cut = pathTo(`${'a'.repeat(198)}😀x`);
    expect(await get('collector', cut)).toMatch(/^5: \/a{198}[^ ]…: no element/);
    const subscriber = new Subscriber(
      `localhost:${port}`,
      subscribeRequest([onChange(cut.elem[0]!.name)]),
      tlsOf('collector'),
    );
    await until('the stream is refused', () => subscriber.error);
    expect(subscriber.error).toMatchObject({ code: 5 });
    subscriber.close();
  });

  describe('a certificate counts until it expires', () => {
    const end = (): number => Date.parse(new X509Certificate(files.read('collector.pem')).validTo);
    /** What OpenSSL looks at is the clock of the system: a handshake now, and a call then. */
    const at = (ms: number): void => void vi.useFakeTimers({ toFake: ['Date'], now: ms });
    afterEach(() => void vi.useRealTimers());

    test('calls are refused then, whenever their connection began', async () => {
      await start();
      at(end() - 1000);
      expect(await get('collector', pathTo('cnpd', 'ports'))).toBe('ok');
      // All of them were made within a minute.
      at(end() + 60_000);
      expect(await get('collector', pathTo('cnpd', 'ports'))).toMatch(/^16: the certificate has expired: /);
      expect(await call('collector', 'capabilities', create(CapabilityRequestSchema))).toMatch(/^16: /);
      expect(await call('scheduler', 'set', setRequest({ delete: [{ group: '2001:db8:aa::1' }] }))).toMatch(/^16: /);
    });

    test('a stream ends then', async () => {
      await start();
      at(end() - 300);
      const subscriber = new Subscriber(`localhost:${port}`, subscribeRequest([onChange('cnpd')]), tlsOf('collector'));
      await until('the stream has ended', () => subscriber.error);
      expect(subscriber.error).toMatchObject({ code: 16 });
      subscriber.close();
    });

    test('a session of TLS is not resumed: who resumes one shows no certificate', async () => {
      await start();
      const connectAs = async (session?: Buffer): Promise<{ reused: boolean; sessions: Buffer[] }> => {
        const sessions: Buffer[] = [];
        const [ca, cert, key] = ['ca.pem', 'collector.pem', 'collector.key'].map((name) => files.read(name));
        const socket = connectTls({
          ...{ host: '127.0.0.1', port, servername: 'localhost', ca, cert, key, ALPNProtocols: ['h2'] },
          ...(session && { session }),
        });
        socket.on('session', (each) => sessions.push(each));
        // The preface of HTTP/2: its answer comes behind what the handshake has of sessions.
        socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
        await new Promise((resolve) => socket.once('data', resolve));
        const reused = socket.isSessionReused();
        socket.destroy();
        return { reused, sessions };
      };
      const { sessions } = await connectAs();
      for (const session of sessions) expect((await connectAs(session)).reused).toBe(false);
      expect((await connectAs()).reused).toBe(false);
    });
  });

  test('one source has half of the connections, and a connection 20 calls at a time', async () => {
    await start({ tls: undefined, rights: [] });
    // One that says something stays: those that are silent are closed after a while.
    const session = connectHttp2(`http://127.0.0.1:${port}`).on('error', () => undefined);
    const [settings] = (await once(session, 'remoteSettings')) as [Settings];
    expect(settings.maxConcurrentStreams).toBe(20);
    const sockets = Array.from({ length: 129 }, () => connectTcp(port, '127.0.0.1').on('error', () => undefined));
    await until('two are refused', () => counts.get('northbound.connection.refused') === 2);
    for (const one of [session, ...sockets]) one.destroy();
  });

  test('Set needs the right to write', async () => {
    await start();
    const request = setRequest({ delete: [{ group: '2001:db8:aa::1' }] });
    expect(await call('scheduler', 'set', request)).toBe('ok');
    expect(await call('collector', 'set', request)).toBe('7: Set: "collector" may write nothing');
    expect(await call('collector', 'set', setRequest({}))).toBe('7: Set: "collector" may write nothing');
    expect(sets).toBe(1);
  });

  test('Set without a change is refused, and nothing is written', async () => {
    await start();
    expect(await call('scheduler', 'set', setRequest({}))).toBe('3: the request has no delete, replace or update');
    expect(sets).toBe(0);
  });

  test('answers to Get count as unread, on whichever socket', async () => {
    await start({}, undefined, { unread: new UnreadAnswers({ count: () => undefined }, 10) });
    expect(await get('collector', pathTo('cnpd', 'status'))).toMatch(/^8: clients have left 0 KiB of answers unread/);
  });

  test('Subscribe needs the right to read each of its paths', async () => {
    await start();
    const subscribed = (who: string, ...to: string[]) =>
      new Subscriber(`localhost:${port}`, subscribeRequest([onChange(...to)]), tlsOf(who));
    const [may, mayNot] = [subscribed('collector', 'cnpd', 'status'), subscribed('scheduler', 'cnpd', 'status')];
    await until('the one is served', () => may.syncs === 1);
    await until('the other is refused', () => mayNot.error);
    expect(mayNot.error).toMatchObject({ code: 7 });
    for (const subscriber of [may, mayNot]) subscriber.close();
  });

  test('no certificate, one of another authority, an expired one, TLS 1.2 and plaintext are refused', async () => {
    await start();
    for (const who of [undefined, 'stranger', 'expired'])
      expect(await get(who, pathTo('cnpd', 'status'))).toMatch(REFUSED);
    expect(await call('collector', 'get', create(GetRequestSchema), false)).toMatch(REFUSED);
    const old = connectTls({ port, host: '127.0.0.1', maxVersion: 'TLSv1.2', rejectUnauthorized: false });
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => old.once('error', resolve));
    expect(error.code).toMatch(/PROTOCOL_VERSION/);
    expect(counts.get('northbound.tls.refused')).toBeGreaterThanOrEqual(5);
    expect(await get('collector', pathTo('cnpd', 'status'))).toBe('ok');
  });

  test('a client that says nothing is disconnected before its handshake is over', async () => {
    await start({}, 200);
    const silent = connectTcp(port, '127.0.0.1');
    silent.on('error', () => undefined);
    await new Promise((resolve) => silent.once('close', resolve));
    expect(counts.get('northbound.connection')).toBeUndefined();
  });

  test('close does not wait for a client that is in its handshake', async () => {
    await start();
    const silent = connectTcp(port, '127.0.0.1');
    silent.on('error', () => undefined);
    await new Promise((resolve) => silent.once('connect', resolve));
    await northbound!.close();
    northbound = undefined;
  });

  test('plaintext: everybody reads, nobody sets', async () => {
    await start({ tls: undefined, rights: [] });
    const status = create(GetRequestSchema, { path: [pathTo('cnpd', 'status')] });
    expect(await call(undefined, 'get', status, false)).toBe('ok');
    const request = setRequest({ delete: [{ group: '2001:db8:aa::1' }] });
    expect(await call(undefined, 'set', request, false)).toMatch(/^7: without TLS/);
  });

  test('the client of cnpctl: state and calls of Control by its rights, and why there is no connection', async () => {
    await start();
    const pem = (name: string): string => files.read(name).toString();
    const tls = { ca: pem('ca.pem'), certificate: pem('collector.pem'), key: pem('collector.key') };
    const connect = (tcp: TcpTarget) => connectNorthbound({ socket: '', tcp, timeoutMs: 5000 });
    const client = connect({ target: `localhost:${port}`, tls });
    try {
      expect(await client.get(['cnpd', 'status', 'pid'])).toBe(42);
      expect(await client.plan()).toMatchObject({ ok: true });
      await expect(client.reload()).rejects.toThrow(/configuration: "collector" may write nothing/);
      await expect(client.apply({ text: '', name: '' }, {})).rejects.toMatchObject({ status: 'PERMISSION_DENIED' });
    } finally {
      client.close();
    }
    const stranger = connect({ target: `localhost:${port}` });
    await expect(stranger.get(['cnpd'])).rejects.toMatchObject({ code: 'unreachable' });
    stranger.close();
  });

  test('files that cannot be used, and an address that cannot be had, are named', async () => {
    const with_ = (files: Partial<NonNullable<TcpOptions['tls']>>) => () =>
      readTcpSettings({ ...options(), tls: { ...options().tls!, ...files } });
    writeFileSync(at('empty.pem'), '');
    expect(with_({ certificate: at('none.pem') })).toThrow(/none\.pem: ENOENT/);
    expect(with_({ key: at('ca.pem') })).toThrow(/ca\.pem: /);
    expect(with_({ key: at('ca.key') })).toThrow(/router\.pem and .*ca\.key: .*mismatch/);
    expect(with_({ clientCa: at('empty.pem') })).toThrow(/empty\.pem: no certificate/);
    await start();
    await expect(startTcpNorthbound(readTcpSettings(options()), { actions: {} } as never)).rejects.toThrow(
      `127.0.0.1:${port}: listen EADDRINUSE`,
    );
  });
});

describe('names in a certificate', () => {
  test('common names and subject alternative names, as Node.js writes them', () => {
    const names = (subjectaltname: string, CN: unknown = 'a') => namesIn({ subject: { CN } as never, subjectaltname });
    expect(names('DNS:b.example, IP Address:192.0.2.1, email:c@d, URI:spiffe://e')).toEqual([
      ...['a', 'b.example', '192.0.2.1', 'c@d', 'spiffe://e'],
    ]);
    expect(names('DNS:"b, DNS:admin"')).toEqual(['a', 'b, DNS:admin']);
    expect(names('othername:<unsupported>', ['a', 'b'])).toEqual(['a', 'b']);
  });

  test('what is in the quotes of another type is no name; a text that is no list has none', () => {
    const names = (subjectaltname: string) => namesIn({ subject: { CN: 'a' } as never, subjectaltname });
    expect(names('othername:UPN:"x, DNS:admin, y", DNS:b')).toEqual(['a', 'b']);
    expect(names('othername:SRVName:"x, DNS:admin, y", DNS:b')).toEqual(['a', 'b']);
    expect(names('X400Name:<unsupported>, DNS:b')).toEqual(['a', 'b']);
    expect(names('Registered ID:1.2.3, DirName:"CN=x, DNS:admin", DNS:b')).toEqual(['a', 'b']);
    expect(names(String.raw`DirName:"CN=\"x, DNS:admin, y\"", DNS:b`)).toEqual(['a', 'b']);
    for (const broken of ['othername:UPN:"x, DNS:admin', 'x"y", DNS:admin', 'DNS:b, ', 'X400Name:<u>, none, DNS:b'])
      expect(names(broken)).toEqual(['a']);
  });
});
