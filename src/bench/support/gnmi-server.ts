// cnpd's northbound with a state made for the bench, and beside it a bare stream: the same library and the same
// messages, with nothing behind them.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type MessageShape, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { fakeConfig } from '../../northbound/config.fixture.ts';
import { silentLog } from '../../model/log.ts';
import { fail, ok } from '../../model/result.ts';
import type { StateSource } from '../../model/state.ts';
import { eventLoopWork } from '../../model/work.ts';
import { SubscribeRequestSchema } from '../../northbound/gen/gnmi/gnmi_pb.js';
import { startNorthbound } from '../../northbound/server.ts';
import { type Bench, dist } from './bench.ts';

export interface SubscriberReport {
  readonly ms: number;
  readonly bytes: number;
  readonly agesMs: readonly number[];
}

type Request = MessageShape<typeof SubscribeRequestSchema>;

/** @param values how many to wait for; 0: until the call ends */
export async function runSubscriber(socket: string, request: Request, values = 0): Promise<SubscriberReport> {
  const text = Buffer.from(toBinary(SubscribeRequestSchema, request)).toString('base64');
  const args = [join(dist(), 'subscriber.js'), socket, text, String(values)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 << 20 });
  return JSON.parse(stdout) as SubscriberReport;
}

export async function serveState(bench: Bench, source: StateSource): Promise<string> {
  const socket = join(bench.directory, 'gnmi.sock');
  const northbound = await startNorthbound(
    { socket },
    {
      source,
      work: eventLoopWork(),
      log: silentLog,
      count: () => undefined,
      actions: {
        reload: async () => ({ ok: true, errors: [], changed: [] }),
        set: () => Promise.reject(new Error('not in the bench')),
        config: fakeConfig(),
        restartGroup: () => fail({ code: 'conflict' as const, errors: [] }),
        release: () => 0,
        logLevels: () => ok([]),
      },
    },
  );
  bench.finally(() => northbound.close());
  return socket;
}

export type BareStream = ServerDuplexStream<Buffer, Buffer>;

/** @param onRequest has the stream; what it writes are whole messages */
export async function serveBare(bench: Bench, onRequest: (stream: BareStream) => void): Promise<string> {
  const socket = join(bench.directory, 'bare.sock');
  const same = (bytes: Buffer): Buffer => bytes;
  const server = new Server();
  server.addService(
    {
      subscribe: {
        path: '/gnmi.gNMI/Subscribe',
        requestStream: true,
        responseStream: true,
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    },
    { subscribe: (stream: BareStream) => void stream.once('data', () => onRequest(stream)) },
  );
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  bench.finally(() => server.forceShutdown());
  return socket;
}

/** As fast as the client takes them. */
export async function writeAll(stream: BareStream, messages: readonly Buffer[]): Promise<void> {
  for (const message of messages)
    if (!stream.write(message)) await new Promise<void>((resolve) => stream.once('drain', resolve));
  stream.end();
}
