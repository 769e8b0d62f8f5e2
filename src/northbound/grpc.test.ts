import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:http2';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { until } from '../../test/support/until.ts';
import { silentLog } from '../model/log.ts';
import { gNMI } from './gen/gnmi/gnmi_pb.js';
import { handle, served } from './grpc.ts';
import { UnreadAnswers } from './unread.ts';

/** Calls Get, whose answers have a megabyte, and takes a kilobyte of each. */
async function slowClient(reporting: Partial<Parameters<typeof handle>[2]>, unreadMs?: number) {
  const dir = mkdtempSync(join(tmpdir(), 'cnpd-grpc-'));
  const socket = join(dir, 'grpc.sock');
  const server = new Server();
  const method = gNMI.method.get;
  const answer = async () => Buffer.alloc(1 << 20);
  const dependencies = { log: silentLog, count: () => undefined, ...reporting };
  server.addService({ get: served(method) }, { get: handle(method, answer, dependencies, unreadMs) });
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  // A small window: most of the answer waits in the server.
  const session = connect('http://x', {
    createConnection: () => createConnection(socket),
    settings: { initialWindowSize: 1024 },
  });
  session.on('error', () => undefined);
  return {
    session,
    call: () => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/gnmi.gNMI/Get',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      stream.on('error', () => undefined);
      stream.end(Buffer.alloc(5));
      return stream;
    },
    close: () => {
      session.close();
      server.forceShutdown();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

describe('an answer that nobody reads', () => {
  test('is given up: the stream is reset, and the connection goes on', async () => {
    const { session, call, close } = await slowClient({}, 200);
    const stream = call();
    await until('the stream is reset', () => stream.closed || stream.destroyed);
    expect(stream.rstCode).toBe(8);
    expect(session.closed).toBe(false);
    close();
  });

  test('counts until its call is over: beyond the bound answers are refused', async () => {
    const counts: string[] = [];
    const count = (name: string): void => void counts.push(name);
    const { call, close } = await slowClient({ count, unread: new UnreadAnswers({ count }, 2.5 * 2 ** 20) });
    const statusOf = (stream: ReturnType<typeof call>): Promise<{ code: unknown; text: unknown }> =>
      new Promise((resolve) =>
        stream.once('response', (headers) =>
          resolve({ code: headers['grpc-status'], text: decodeURI(String(headers['grpc-message'])) }),
        ),
      );
    const taken = [call(), call()];
    for (const stream of taken) expect((await statusOf(stream)).code).toBeUndefined();
    expect(await statusOf(call())).toEqual({
      code: '8',
      text: 'clients have left 2048 KiB of answers unread, of at most 2560 KiB: try again later',
    });
    expect(counts.filter((name) => !name.includes('call'))).toEqual([
      ...['northbound.unread', 'northbound.refused.resource-exhausted'],
    ]);
    taken[0]!.close(8);
    await until('there is room again', async () => (await statusOf(call())).code === undefined);
    close();
  });
});

test('an answer that gRPC does not take ends the call, and is counted and logged', async () => {
  const counts: string[] = [];
  const logged: string[] = [];
  const log = { ...silentLog, error: (_: object, text: string) => void logged.push(text) } as typeof silentLog;
  const closed: number[] = [];
  const call = {
    request: Buffer.alloc(0),
    getAuthContext: () => ({}),
    call: { stream: { setTimeout: () => undefined, close: (code: number) => void closed.push(code) } },
  };
  const handler = handle(gNMI.method.get, async () => Buffer.alloc(0), {
    log,
    count: (name) => void counts.push(name),
  });
  handler(call as never, () => {
    throw new URIError('URI malformed');
  });
  await until('the call is cut off', () => closed.length > 0);
  expect([closed, counts]).toEqual([[8], ['northbound.call.get', 'northbound.answer.failed']]);
  expect(logged).toEqual(['a northbound call could not be answered']);
});
