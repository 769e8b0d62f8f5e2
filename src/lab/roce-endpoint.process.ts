// A RoCEv2 host in software: `roce-endpoint listen|send|source|receive …`. Reliable connections, ACK and NAK,
// congestion marks and CNPs, in real packets with real ICRCs. `send` connects to `listen` by CM, and sends SENDs.
// `source` and `receive` have Queue Pairs that were agreed upon elsewhere, and transfer a number of bytes by SENDs or
// WRITEs. It is traffic for the lab, not a network card: no READs, no credits.
import { parseArgs } from 'node:util';
import { type IpAddress, parseAddress } from '../model/address.ts';
import { KernelError, isKernelError } from '../kernel/errors.ts';
import { Poller } from '../kernel/poller.ts';
import { keepInspectorShut } from '../kernel/no-inspector.ts';
import { type RocePort, openRocePort } from './roce/port.ts';
import type { LocalSide } from './roce/connection.ts';
import {
  OPTIONS,
  type Options,
  count,
  dcqcn,
  drawCommId,
  drawPsn,
  drawQpn,
  fail,
  feedback,
  instructed,
  read,
} from './roce/command-line.ts';
import { Listener } from './roce/listener.ts';
import { loseOneIn } from './roce/lossy-wire.ts';
import { receive, source } from './roce/pairs.ts';
import type { Role, RoleParts } from './roce/role.ts';
import { jsonLines, monotonicMs } from './roce/report.ts';
import { Sender } from './roce/sender.ts';
import { parseDuration, parseRate } from './units.ts';

const report = jsonLines((line) => process.stdout.write(line), monotonicMs);

function listen(options: Options, address: IpAddress, { send: transmit, end }: RoleParts): Role {
  const interval = options['cnp-interval'] === 'off' ? undefined : read(options, 'cnp-interval', parseDuration, 0.05);
  const listener = new Listener(
    {
      address,
      cnpIntervalMs: interval,
      reportIntervalMs: read(options, 'report', parseDuration, 100),
      maxConnections: 1024,
    },
    {
      now: monotonicMs,
      send: transmit,
      report,
      draw: () => ({ qpn: drawQpn(), commId: drawCommId(), startingPsn: drawPsn() }),
    },
  );
  const stop = (): void => {
    listener.end();
    end(true);
  };
  return { onPacket: (packet) => listener.onPacket(packet), stop };
}

function send(options: Options, address: IpAddress, { send: transmit, end }: RoleParts): Role {
  const rate = read(options, 'rate', parseRate, 100e6);
  const local: LocalSide = {
    address,
    qpn: read(options, 'qpn', count, drawQpn()),
    commId: drawCommId(),
    startingPsn: drawPsn(),
  };
  const peer = read(options, 'peer', parseAddress);
  if (peer.family !== address.family) fail('--peer and --address must be of one family');
  const sender = new Sender(
    {
      local,
      peer,
      rate,
      port: read(options, 'port', count, 18515),
      payloadSize: read(options, 'payload', count, 1024),
      packetsPerMessage: read(options, 'message', count, 16),
      durationMs: read(options, 'duration', parseDuration, 10_000),
      window: read(options, 'window', count, 16_384),
      timeoutMs: read(options, 'timeout', parseDuration, 1000),
      reportIntervalMs: read(options, 'report', parseDuration, 100),
      dcqcn: dcqcn(options, rate),
      feedback: feedback(options),
      instructed: options.understands === undefined ? undefined : instructed(options, rate),
      rttMs: options.rtt === undefined ? undefined : read(options, 'rtt', parseDuration),
    },
    { now: monotonicMs, send: transmit, report, onEnd: end },
  );
  setImmediate(() => sender.start());
  return {
    onPacket: (packet) => sender.onPacket(packet),
    onNotification: (format, packet) => sender.onNotification(format, packet),
    stop: () => sender.stop(),
  };
}

const ROLES = { listen, send, source, receive } as const;

function main(): void {
  const { values, positionals } = (() => {
    try {
      return parseArgs({ options: OPTIONS, allowPositionals: true });
    } catch (error) {
      return fail((error as Error).message);
    }
  })();
  const role = ROLES[positionals[0] as keyof typeof ROLES] ?? fail('say listen, send, source or receive');
  const address = read(values, 'address', parseAddress);
  const poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  const bad: Record<string, number> = {};
  const end = (ok: boolean): void => {
    report('port', { receiveDrops: opened.receiveDrops(), bad, lost: lossy?.lost() ?? 0 });
    lossy?.close();
    opened.close();
    poller.close();
    process.exitCode = ok ? 0 : 1;
  };
  const started = role(values, address, { now: monotonicMs, send: (packet) => opened.send(packet), report, end });
  const understood = positionals[0] === 'send' ? feedback(values) : undefined;
  const notifications = understood && { codes: understood.codes, fastCnp: understood.understands.has('fast-cnp') };
  const name = read(values, 'interface', (s) => s);
  const lossy = values.lose === undefined ? undefined : loseOneIn(read(values, 'lose', count), { interface: name });
  const opened: RocePort = openRocePort(
    { interface: name, address, notifications, also: started.also },
    {
      poller,
      onPacket: (packet) => started.onPacket(packet),
      onNotification: (format, packet) => started.onNotification?.(format, packet),
      onBad: (code) => (bad[code] = (bad[code] ?? 0) + 1),
      onError: (error) => report('error', { message: error.message }),
    },
  );
  report('ready', { role: positionals[0], pid: process.pid });
  process.on('SIGUSR2', () => started.finish?.());
  process.on('SIGTERM', () => started.stop());
  process.on('SIGINT', () => started.stop());
}

keepInspectorShut();
try {
  main();
} catch (error) {
  // What the kernel refuses, most of all because another endpoint runs here, needs no stack trace.
  if (!(error instanceof KernelError)) throw error;
  const why = isKernelError(error, 'EADDRINUSE') ? 'another endpoint runs here: ' : '';
  process.stderr.write(`roce-endpoint: ${why}${error.message}\n`);
  process.exit(1);
}
