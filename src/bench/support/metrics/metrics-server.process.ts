// Serves metrics of a made-up router with so many series, and the same bytes ready-made at another port: what HTTP
// alone costs. Sends its ports to the parent.
import { createServer } from 'node:http';
import { systemClock } from '../../../model/clock.ts';
import { silentLog } from '../../../model/log.ts';
import type { PortState } from '../../../model/state.ts';
import { eventLoopWork, finish } from '../../../model/work.ts';
import { exposition } from '../../../northbound/metrics/exposition.ts';
import { startMetricsServer } from '../../../northbound/metrics/server.ts';
import type { TelemetrySource } from '../../../model/telemetry-state.ts';

/** Series of a port: src/northbound/metrics/port-families.ts. */
const OF_A_PORT = 25;
const series = Number(process.argv[2]);
const COUNTERS = 500;
const HOST = '127.0.0.1';

const port = (i: number): PortState =>
  new Proxy({} as PortState, {
    get: (_, name) => (name === 'interface' ? `eth${i}` : name === 'attached' ? true : i * 1_000_003 + 0.5),
  });
const ports = Array.from({ length: Math.ceil((series - COUNTERS) / OF_A_PORT) }, (_, i) => port(i));
const counters = Array.from({ length: COUNTERS }, (_, i) => ({ name: `bench.counter-${i}`, value: i * 1_000_003 }));
const source: TelemetrySource = {
  state: {
    ports: () => ports,
    counters: () => counters,
    rtt: () => [],
    flowControl: () => ({ mode: null, udpPort: null, bitOrder: null, ports: [], asked: [], paused: [] }),
  },
  daemon: () => ({ version: '0', startedAt: 0, health: 'running', problems: [] }),
  carriers: () => [],
  learned: () => ({ advertisements: 0, proxies: 0, sids: 0, routerAddresses: 0, originators: 0, held: 0 }),
  stages: () => [],
  holds: () => ({ states: {}, formats: {}, rate: 0 }),
  groups: async () => [],
  tables: async () => ({ tables: [], ageMs: 0 }),
  meaningOf: (name) => `what ${name} counts, in about as many words as most of them have`,
};

const work = eventLoopWork();
const common = { source, log: silentLog, count: () => {} };
const server = await startMetricsServer({ address: HOST, port: 0 }, { ...common, work, clock: systemClock });
const ready = await finish(work, exposition('openmetrics', common), 4);
const plain = createServer((_, response) => response.end(ready)).listen(0, HOST, () => {
  const bound = plain.address();
  process.send!({ port: server.port, plain: typeof bound === 'object' && bound ? bound.port : 0 });
});
