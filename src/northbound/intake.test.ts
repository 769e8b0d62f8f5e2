// Requests as clients send them that do not end, over HTTP/2.
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../test/support/until.ts';
import { silentLog } from '../model/log.ts';
import { gNMI } from './gen/gnmi/gnmi_pb.js';
import { handle, served } from './grpc.ts';
import { type CheckCaller, intake } from './intake.ts';
import { RpcError } from './rpc-error.ts';

let dir: string;
let server: Server;
let session: ClientHttp2Session;
let check: CheckCaller;
let others: ClientHttp2Session;
let ran: number;
const reporting = { log: silentLog, count: () => undefined };
const method = gNMI.method.get;

async function serve(requestMs: number): Promise<void> {
  server = new Server({ interceptors: [intake({ ...reporting, check: (...args) => check(...args), requestMs })] });
  server.addService({ get: served(method) }, { get: handle(method, async () => (ran++, Buffer.alloc(0)), reporting) });
  const socket = join(dir, 'grpc.sock');
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  [session, others] = [0, 1].map(() => {
    const one = connect('http://x', { createConnection: () => createConnection(socket) });
    return one.on('error', () => undefined);
  }) as [ClientHttp2Session, ClientHttp2Session];
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-intake-'));
  check = () => undefined;
  ran = 0;
});
afterEach(() => {
  for (const one of [session, others]) one.destroy();
  server.forceShutdown();
  rmSync(dir, { recursive: true, force: true });
});

/** Begins a call of Get; what comes back is in `status`. */
function begin(of = session): ClientHttp2Stream & { status?: string } {
  const headers = { ':method': 'POST', ':path': '/gnmi.gNMI/Get', 'content-type': 'application/grpc', te: 'trailers' };
  const stream: ClientHttp2Stream & { status?: string } = of.request(headers);
  const note = (found: Record<string, unknown>): void => {
    if (found['grpc-status'] !== undefined) stream.status = found['grpc-status'] as string;
  };
  stream
    .on('response', note)
    .on('trailers', note)
    .on('error', () => undefined)
    .resume();
  return stream;
}
const LENGTH = 100_000;
/** The head of a message, and not all that it announces. */
const HALF = Buffer.concat([Buffer.from([0, 0, 0x01, 0x86, 0xa0]), Buffer.alloc(10)]);
const EMPTY = Buffer.alloc(5);
const statusIs = (stream: { status?: string }, status: string): Promise<unknown> =>
  until(`status ${status}`, () => stream.status === status);

test('who may not call is told before the request is there', async () => {
  await serve(60_000);
  check = (path) => {
    throw new RpcError('PERMISSION_DENIED', path);
  };
  const stream = begin();
  stream.write(HALF);
  await statusIs(stream, '7');
});

test('a request that does not end is given up', async () => {
  await serve(100);
  const stream = begin();
  stream.write(HALF);
  await statusIs(stream, '4');
});

test('a connection sends two requests at a time: the others wait, and HTTP/2 holds back what they have', async () => {
  await serve(60_000);
  const [first, second] = [begin(), begin()];
  for (const stream of [first, second]) stream.write(HALF);
  const waiting = begin();
  waiting.end(EMPTY);
  const other = begin();
  other.write(Buffer.alloc(LENGTH));
  await new Promise((resolve) => session.ping(() => resolve(undefined)));
  // Requests are decoded in a line: by now those before would have had their turn.
  const elsewhere = begin(others);
  elsewhere.end(EMPTY);
  await statusIs(elsewhere, '0');
  expect(ran).toBe(1);
  // A window of HTTP/2 is 65,535 bytes: the rest has not left.
  expect(other.writableLength).toBe(LENGTH);
  first.close();
  await statusIs(waiting, '0');
});

test('one that is given up while it waits takes no turn', async () => {
  await serve(60_000);
  const [first, second, third, last] = [begin(), begin(), begin(), begin()];
  for (const stream of [first, second, third]) stream.write(HALF);
  last.end(EMPTY);
  third.close();
  second.close();
  await statusIs(last, '0');
  expect(first.status).toBeUndefined();
});
