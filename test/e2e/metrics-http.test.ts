// Metrics and health over real TCP: what a scraper gets, and what one that floods, stalls or talks nonsense gets.
import { Agent, get, request } from 'node:http';
import { type Socket, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/model/clock.ts';
import { silentLog } from '../../src/model/log.ts';
import type { TelemetrySource } from '../../src/model/telemetry-state.ts';
import { eventLoopWork } from '../../src/model/work.ts';
import { readOpenMetrics } from '../../src/northbound/metrics/openmetrics.fixture.ts';
import { LIMITS, type MetricsServer, startMetricsServer } from '../../src/northbound/metrics/server.ts';
import { exampleTelemetry } from '../../src/northbound/metrics/telemetry.fixture.ts';
import { atLeast, is, until } from '../support/until.ts';

let server: MetricsServer;
let counts: Map<string, number>;
const counted = (name: string): number => counts.get(name) ?? 0;
const sockets: Socket[] = [];

async function start(source: TelemetrySource = exampleTelemetry(), limits: Partial<typeof LIMITS> = {}): Promise<void> {
  server = await startMetricsServer(
    { address: '127.0.0.1', port: 0 },
    {
      source,
      work: eventLoopWork(),
      clock: systemClock,
      log: silentLog,
      count: (name, by = 1) => void counts.set(name, counted(name) + by),
      limits: { ...LIMITS, ...limits } as typeof LIMITS,
    },
  );
}
beforeEach(() => void (counts = new Map()));
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

interface Got {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}
const fetched = (path: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) =>
  new Promise<Got>((resolve, reject) => {
    const { body, ...rest } = options;
    const call = request({ host: '127.0.0.1', port: server.port, path, agent: false, ...rest }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () =>
        resolve({ status: answer.statusCode!, type: String(answer.headers['content-type']), text }),
      );
    });
    call.on('error', reject).end(body);
  });

/** Sends bytes, and collects what comes back. */
function raw(bytes: string): { readonly socket: Socket; text: string; closed: boolean } {
  const socket = connect(server.port, '127.0.0.1');
  sockets.push(socket);
  const seen = { socket, text: '', closed: false };
  socket.setEncoding('utf8').on('data', (part: string) => (seen.text += part));
  socket.on('error', () => {}).on('close', () => (seen.closed = true));
  socket.write(bytes);
  return seen;
}
const closedOf = (seen: { closed: boolean }): Promise<unknown> => until('it is closed', () => seen.closed, is(true));

describe('an ordinary client', () => {
  test('gets OpenMetrics, or Prometheus text if it asks for that alone', async () => {
    await start();
    const scraped = await fetched('/metrics', {
      headers: { accept: 'application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5' },
    });
    expect(scraped).toMatchObject({ status: 200, type: 'application/openmetrics-text; version=1.0.0; charset=utf-8' });
    expect(readOpenMetrics(scraped.text).has('cnpd_learned_entries')).toBe(true);
    expect((await fetched('/metrics')).type).toMatch(/^application\/openmetrics-text/);
    const text = await fetched('/metrics', { headers: { accept: 'text/plain' } });
    expect(text.type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text.text).toContain('# TYPE cnpd_port_bytes_total counter\n');
    expect(counted('metrics.scrape')).toBe(3);
  });

  test('HEAD has the headers and no body; queries are ignored', async () => {
    await start();
    expect(await fetched('/livez?verbose', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  test('/readyz: 503 with its reasons while cnpd starts, 200 when it runs or is degraded', async () => {
    let health: 'starting' | 'running' | 'degraded' = 'starting';
    const daemon = exampleTelemetry().daemon();
    await start(exampleTelemetry({ daemon: () => ({ ...daemon, health }) }));
    expect(await fetched('/readyz')).toMatchObject({
      status: 503,
      text:
        'starting\nkernel: done\nplan: done\nisis: waiting: no neighbor is up yet\n' +
        'port eth2: problem ports.queue-unreadable\n',
    });
    health = 'degraded';
    expect(await fetched('/readyz')).toMatchObject({ status: 200, text: expect.stringMatching(/^degraded\n/) });
    health = 'running';
    expect(await fetched('/readyz')).toMatchObject({ status: 200, text: expect.stringMatching(/^running\n/) });
  });

  test('a connection that is kept serves one request after another', async () => {
    await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = () =>
      new Promise<number>((resolve, reject) => {
        get({ host: '127.0.0.1', port: server.port, path: '/livez', agent }, (answer) =>
          answer.resume().on('end', () => resolve(answer.statusCode!)),
        ).on('error', reject);
      });
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 200]);
    agent.destroy();
  });
});

describe('bad input', () => {
  test.each([
    ['another method', '/metrics', { method: 'POST' }, 405],
    ['another path', '/', {}, 404],
    ['a name of an object', '/constructor', {}, 404],
    ['a body', '/metrics', { body: 'x', headers: { 'content-length': '1' } }, 413],
    ['a body of unknown length', '/metrics', { body: 'x', headers: { 'transfer-encoding': 'chunked' } }, 413],
  ])('%s is refused and counted, and the connection is closed', async (_, path, options, status) => {
    await start();
    expect(await fetched(path, options)).toMatchObject({ status });
    expect([...counts]).toEqual([['metrics.request.refused', 1]]);
  });

  test.each([
    [
      'an oversized request',
      `GET /metrics HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(LIMITS.requestBytes)}\r\n\r\n`,
      '431',
      'too-large',
    ],
    ['no HTTP', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400', 'malformed'],
    ['random bytes', '\u0000\u0001\u0002\r\n\r\n', '400', 'malformed'],
  ])('%s is answered with an error, counted and closed', async (_, bytes, status, counter) => {
    await start();
    const seen = raw(bytes);
    await closedOf(seen);
    expect(seen.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(counted(`metrics.request.${counter}`)).toBe(1);
  });

  test('requests before the answer to the first one end the connection', async () => {
    await start(exampleTelemetry({ learned: () => new Promise(() => {}) as never }));
    const seen = raw('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
    await closedOf(seen);
    expect([counted('metrics.scrape'), counted('metrics.request.refused')]).toEqual([1, 1]);
  });

  test('a request that never ends is closed, and so is a connection without one', async () => {
    await start(exampleTelemetry(), { requestMs: 300 } as never);
    const [half, silent] = [raw('GET /metrics HTTP/1.1\r\nHo'), raw('')];
    await Promise.all([closedOf(half), closedOf(silent)]);
    expect(half.text).toMatch(/^HTTP\/1.1 408 /);
    expect(counted('metrics.request.slow')).toBeGreaterThanOrEqual(1);
  });

  test('an answer that nobody takes is given up', async () => {
    const counters = Array.from({ length: 19_000 }, (_, i) => ({ name: `a.${'long.'.repeat(40)}${i}`, value: i }));
    const state = { ...exampleTelemetry().state, counters: () => counters };
    await start(exampleTelemetry({ state }), { answerMs: 500 } as never);
    const stuck = raw('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    stuck.socket.pause();
    await until('it is given up', () => counted('metrics.answer.slow'), is(1));
    stuck.socket.resume();
    await closedOf(stuck);
    expect(stuck.text).not.toContain('# EOF');
    expect((await fetched('/livez')).status).toBe(200);
  });

  test('more connections than the limit are refused and counted; the others are served', async () => {
    await start(exampleTelemetry(), { connections: 4 } as never);
    const held = Array.from({ length: 3 }, () => raw(''));
    await until('they are connected', () => held.filter(({ socket }) => !socket.connecting).length, is(3));
    expect((await fetched('/livez')).status).toBe(200);
    for (let i = 0; i < 8; i++) raw('');
    await until('refused', () => counted('metrics.connection.refused'), atLeast(7));
  });

  test('a flood of scrapes shares expositions; beyond the rate it is refused', async () => {
    let made = 0;
    const source = exampleTelemetry({ learned: () => (made++, exampleTelemetry().learned()) });
    await start(source, { requestsPerSecond: 0.001 } as never);
    const began = performance.now();
    const flood = await Promise.all(Array.from({ length: 60 }, () => fetched('/metrics')));
    expect(flood.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(made).toBeLessThan(3 + (performance.now() - began) / LIMITS.expositionGapMs);
    const rest = await Promise.all(Array.from({ length: 50 }, () => fetched('/livez')));
    expect(rest.filter(({ status }) => status === 429)).toHaveLength(10);
    expect(counted('metrics.request.limited')).toBe(10);
  });

  test('an error of the source is 500, counted, and no end', async () => {
    await start(
      exampleTelemetry({
        stages: () => {
          throw new Error('it fails');
        },
      }),
    );
    expect((await fetched('/readyz')).status).toBe(500);
    expect(counted('metrics.answer.failed')).toBe(1);
    expect(readOpenMetrics((await fetched('/metrics')).text).has('cnpd_build')).toBe(true);
  });
});

test('an address that is taken is an error with its code', async () => {
  await start();
  const again = startMetricsServer(
    { address: '127.0.0.1', port: server.port },
    { source: exampleTelemetry(), work: eventLoopWork(), clock: systemClock, log: silentLog, count: () => {} },
  );
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
