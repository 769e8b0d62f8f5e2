import { createServer } from 'node:net';
import { credentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { Certificates } from '../certificates.fixture.ts';
import { startTcpNorthbound } from '../server.ts';
import { readTcpSettings } from '../tcp.ts';
import { Admission, clientOf } from './admission.ts';
import { Served, over } from './served.fixture.ts';
import { Subscriber, onChange, subscribeRequest } from './subscriber.fixture.ts';

describe('how many streams there may be', () => {
  const several = (admission: Admission, client: string | undefined, streams: number) =>
    Array.from({ length: streams }, () => admission.enter(client));

  test('of one client over TCP 16; one that ends makes room', () => {
    const admission = new Admission({});
    const [leave] = several(admission, 'a', 16);
    expect(() => admission.enter('a')).toThrow('this client has 16 subscriptions already');
    admission.enter('b');
    leave!();
    admission.enter('a');
    expect(() => admission.enter('a')).toThrow('16 subscriptions already');
  });

  test('of all over TCP 96: the rest is for the unix sockets, which may have all of them', () => {
    const admission = new Admission({});
    const leaves = Array.from({ length: 6 }, (_, i) => several(admission, `client ${i}`, 16)).flat();
    expect(() => admission.enter('another')).toThrow('96 subscriptions over TCP already');
    several(admission, undefined, 32);
    expect(() => admission.enter(undefined)).toThrow('128 subscriptions already');
    for (const leave of leaves) leave();
    several(admission, 'another', 1);
    several(admission, undefined, 95);
    expect(() => admission.enter(undefined)).toThrow('128 subscriptions already');
  });

  test('a client without a certificate is its address, whatever its port', () => {
    const from = (peer: string) => clientOf({ getPeer: () => peer, getAuthContext: () => ({}) });
    expect([from('192.0.2.1:4000'), from('2001:db8::1:4000'), from('unknown')]).toEqual([
      '192.0.2.1',
      '2001:db8::1',
      undefined,
    ]);
  });
});

describe('who a client is', () => {
  const files = new Certificates();
  const served = new Served();
  beforeEach(() => served.start({ maxOfClient: 1 }));
  afterEach(async () => {
    await served.stop();
    files.remove();
  });

  test('by the names in its certificate, not by its connection; on the unix socket nobody knows', async () => {
    files.make('ca');
    files.make('router', { ca: 'ca', san: 'DNS:localhost' });
    for (const name of ['one', 'other']) files.make(name, { ca: 'ca' });
    const port = await freePort();
    const northbound = await startTcpNorthbound(
      readTcpSettings({
        address: '127.0.0.1',
        port,
        tls: { certificate: files.at('router.pem'), key: files.at('router.key'), clientCa: files.at('ca.pem') },
        rights: ['one', 'other'].map((name) => ({ name, read: ['/cnpd'], write: [] })),
      }),
      served.dependencies,
    );
    const list = subscribeRequest([onChange('cnpd', 'status', 'pid')]);
    const overTls = (name: string): Subscriber => {
      const [ca, key, cert] = [files.read('ca.pem'), files.read(`${name}.key`), files.read(`${name}.pem`)];
      return new Subscriber(`localhost:${port}`, list, credentials.createSsl(ca, key, cert));
    };
    const has = async (subscriber: Subscriber): Promise<Subscriber> => {
      await until('an answer', () => subscriber.syncs > 0 || subscriber.isOver);
      expect(subscriber.error).toBeUndefined();
      return subscriber;
    };
    const clients = [await has(overTls('one')), await has(overTls('other'))];
    const second = overTls('one');
    await over(second);
    expect(second.error).toMatchObject({ code: 8, details: expect.stringContaining('this client has 1') });
    await served.subscribed([onChange('cnpd', 'status', 'pid')]);
    await served.subscribed([onChange('cnpd', 'status', 'pid')]);
    for (const client of [...clients, second]) client.close();
    await northbound.close();
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
