// Serves metrics and health over HTTP/1.1, on an address of its own. Read only, without authentication. Whoever reaches
// the address can take what is allowed here and no more: all limits stand below, and each refusal is counted.
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../model/clock.ts';
import { messageOf } from '../../model/error-text.ts';
import type { Count, Log } from '../../model/log.ts';
import type { TelemetrySource } from '../../model/telemetry-state.ts';
import { TokenBucket } from '../../model/token-bucket.ts';
import { type Work, finish } from '../../model/work.ts';
import { type Answer, PATHS, type Path, formatFor, livez, metrics, plain, readyz } from './answers.ts';
import { type Format, exposition } from './exposition.ts';
import { Shared } from './shared.ts';

/** docs/reference/telemetry.md has the same limits. */
export const LIMITS = {
  connections: 64,
  /** Of a request: its line and its headers, bytes. */
  requestBytes: 8192,
  /** From the connection, or the first byte of a request, to the end of its headers. */
  requestMs: 5000,
  /** From the request to the last byte of the answer. */
  answerMs: 10_000,
  /** Without a request, after an answer. */
  idleMs: 5000,
  requestsPerSecond: 50,
  requestBurst: 100,
  /** From the begin of one exposition to the begin of the next. */
  expositionGapMs: 100,
} as const;

/** For an exposition in one turn of the event loop. */
const BUDGET_MS = 4;

export interface ListenOptions {
  readonly address: string;
  readonly port: number;
}

export interface MetricsDependencies {
  readonly source: TelemetrySource;
  readonly work: Work;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  /** For tests. */
  readonly limits?: typeof LIMITS;
}

export interface MetricsServer {
  readonly port: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** @throws the error of listen(2), with its code */
export async function startMetricsServer(
  { address, port }: ListenOptions,
  dependencies: MetricsDependencies,
): Promise<MetricsServer> {
  const { count, log, limits = LIMITS } = dependencies;
  const server = createServer({
    maxHeaderSize: limits.requestBytes,
    headersTimeout: limits.requestMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    // How often Node.js looks for connections whose time is over.
    connectionsCheckingInterval: 1000,
  });
  server.maxConnections = limits.connections;
  const answering = answerer(dependencies);
  const onRequest = (request: IncomingMessage, response: ServerResponse) => answering(request, response);
  server.on('request', onRequest).on('checkContinue', onRequest).on('checkExpectation', onRequest);
  server.on('drop', () => count('metrics.connection.refused'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket, count));
  await listen(server, address, port);
  server.on('error', (error) => log.error({ error: messageOf(error) }, 'the socket of metrics failed'));
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound ? bound.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const listen = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });

/** What Node.js could not read as a request. */
function refuse(error: NodeJS.ErrnoException, socket: Socket, count: Count): void {
  const [counter, status] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['metrics.request.too-large', '431 Request Header Fields Too Large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['metrics.request.slow', '408 Request Timeout']
        : ['metrics.request.malformed', '400 Bad Request'];
  if (error.code !== 'ECONNRESET') count(counter);
  // Node.js leaves the socket to whoever listens to this event.
  if (socket.writable && error.code !== 'ECONNRESET') socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  socket.destroySoon();
}

function answerer(dependencies: MetricsDependencies) {
  const { clock, count, log, limits = LIMITS } = dependencies;
  const bucket = new TokenBucket({ perSecond: limits.requestsPerSecond, burst: limits.requestBurst }, clock.now());
  /** Connections with a request that is not answered yet. */
  const busy = new WeakSet<Socket>();
  const answers = answersOf(dependencies);
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    // The rest of what a closed connection had sent.
    if (socket.destroyed) return;
    if (busy.has(socket)) {
      count('metrics.request.refused');
      return void socket.destroy();
    }
    busy.add(socket);
    const cancel = clock.after(limits.answerMs, () => {
      count('metrics.answer.slow');
      socket.destroy();
    });
    response.on('close', () => {
      cancel();
      busy.delete(socket);
    });
    const refusal = bucket.take(clock.now()) ? refusalOf(request) : plain(429, 'too many requests: try again later');
    if (refusal) count(refusal.status === 429 ? 'metrics.request.limited' : 'metrics.request.refused');
    const path = pathOf(request) as Path;
    void (refusal ? Promise.resolve(refusal) : answers[path](request))
      .catch((error: unknown) => {
        count('metrics.answer.failed');
        log.error({ path, error: messageOf(error) }, 'a request for metrics failed');
        return plain(500, 'failed: the log of cnpd has the reason');
      })
      .then((answer) => send(response, answer, refusal !== undefined));
  };
}

function answersOf({ source, work, clock, log, count, limits = LIMITS }: MetricsDependencies) {
  const make = (format: Format): Shared<Buffer> =>
    new Shared(
      () => finish(work, exposition(format, { source, log, count }), BUDGET_MS),
      limits.expositionGapMs,
      clock,
    );
  const shared = { openmetrics: make('openmetrics'), text: make('text') };
  const health = (answer: () => Answer) => async (): Promise<Answer> => {
    count('metrics.health');
    return answer();
  };
  return {
    '/metrics': async ({ headers }: IncomingMessage): Promise<Answer> => {
      count('metrics.scrape');
      const format = formatFor(headers.accept);
      return metrics(format, await shared[format].get());
    },
    '/livez': health(livez),
    '/readyz': health(() => readyz(source.daemon(), source.stages())),
  } satisfies Record<Path, (request: IncomingMessage) => Promise<Answer>>;
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0]!;

/** Nothing has a body, so none is read. */
function refusalOf(request: IncomingMessage): Answer | undefined {
  const { headers, method } = request;
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0)
    return plain(413, 'a request has no body here');
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'allowed: GET, HEAD');
  if (!(PATHS as readonly string[]).includes(pathOf(request))) return plain(404, `there are ${PATHS.join(', ')}`);
  return undefined;
}

function send(response: ServerResponse, answer: Answer, isRefused: boolean): void {
  if (response.destroyed) return;
  response.writeHead(answer.status, {
    'Content-Type': answer.contentType,
    'Content-Length': answer.body.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(answer.status === 405 && { Allow: 'GET, HEAD' }),
    // What was refused may be followed by a body.
    ...(isRefused && { Connection: 'close' }),
  });
  response.end(answer.body);
}
