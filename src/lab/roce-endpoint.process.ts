// A RoCEv2 host in software: `roce-endpoint listen|send …`. Reliable connections with SENDs, CM exchange, ACK and NAK,
// congestion marks and CNPs, in real packets with real ICRCs. It is traffic for the lab, not a network card: no RDMA
// operations, no credits, one connection a sender.
import { parseArgs } from 'node:util';
import { randomInt } from 'node:crypto';
import { type IpAddress, parseAddress } from '../model/address.ts';
import { type CodePointName, DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import { parsePrefix } from '../model/prefix.ts';
import { Poller } from '../kernel/poller.ts';
import { keepInspectorShut } from '../kernel/no-inspector.ts';
import { type RocePort, openRocePort } from './roce/port.ts';
import type { LocalSide } from './roce/connection.ts';
import { type DcqcnOptions, scaledDcqcn } from './roce/dcqcn.ts';
import { FEEDBACK_FORMATS } from './roce/feedback.ts';
import type { FeedbackOptions } from './roce/feedback-point.ts';
import { type InstructedRateOptions, defaultInstructedRate } from './roce/instructed-rate.ts';
import { Listener } from './roce/listener.ts';
import { jsonLines, monotonicMs } from './roce/report.ts';
import { Sender } from './roce/sender.ts';
import { parseDuration, parseRate, parseSize } from './units.ts';
import type { RocePacket } from '../packet/roce/packet.ts';

const USAGE = `usage:
  roce-endpoint listen --interface IF --address ADDR [--cnp-interval 50us|off] [--report 100ms]
  roce-endpoint send --interface IF --address ADDR --peer ADDR [--reaction none|dcqcn] [--rate 100mbit] [--duration 10s]
                     [--payload 1024] [--message 16] [--window 16384] [--timeout 1s] [--port 18515] [--qpn N] [--report 100ms]
                     [--min-rate 1mbit] [--additive 500kbit] [--hyper 2mbit] [--reduction-interval 10ms]
                     [--increase-interval 50ms] [--increase-bytes 1250kB] [--alpha-interval 10ms]
                     [--understands fast-cnp,long-haul-icmpv6,long-haul-roce] [--known-nodes PREFIX,…] [--rtt 10ms] [--icrc cover|skip]
                     [--fast-cnp-option 0x9e] [--fast-cnp-ioam-option 0x9e] [--long-haul-type 200] [--long-haul-object-class 247]
                     [--recovery-step 5mbit] [--resume-cap 50%]
--understands makes the sender act upon notifications of nodes on the way, from --known-nodes only; 'none' reads them all as a card would that knows only CNPs.
One JSON object a line on standard output; t is CLOCK_MONOTONIC in ms.
`;

const fail = (message: string): never => {
  process.stderr.write(`roce-endpoint: ${message}\n${USAGE}`);
  process.exit(2);
};

const text = { type: 'string' } as const;
const OPTIONS = {
  interface: text,
  address: text,
  peer: text,
  'cnp-interval': text,
  report: text,
  reaction: text,
  rate: text,
  duration: text,
  payload: text,
  message: text,
  window: text,
  timeout: text,
  port: text,
  qpn: text,
  'min-rate': text,
  additive: text,
  hyper: text,
  'reduction-interval': text,
  'increase-interval': text,
  'increase-bytes': text,
  'alpha-interval': text,
  understands: text,
  'known-nodes': text,
  rtt: text,
  icrc: text,
  'fast-cnp-option': text,
  'fast-cnp-ioam-option': text,
  'long-haul-type': text,
  'long-haul-object-class': text,
  'recovery-step': text,
  'resume-cap': text,
} as const;
type Options = { readonly [K in keyof typeof OPTIONS]?: string };

type Parse<T> = (text: string) => T | undefined;
const count: Parse<number> = (s) => (/^[1-9]\d*$/.test(s) ? Number(s) : undefined);

function read<T>(options: Options, name: keyof Options, parse: Parse<T>, otherwise?: T): T {
  const given = options[name];
  if (given === undefined) return otherwise ?? fail(`--${name} is missing`);
  return parse(given) ?? fail(`--${name}: cannot read ${JSON.stringify(given)}`);
}

const drawPsn = (): number => randomInt(1 << 24);
const drawCommId = (): number => randomInt(1, 0x1_0000_0000);
/** Queue Pairs 0 and 1 are the management's. */
const drawQpn = (): number => randomInt(0x100, 1 << 24);

function dcqcn(options: Options, rate: number): DcqcnOptions | undefined {
  const reaction = options.reaction ?? 'none';
  if (reaction === 'none') return undefined;
  if (reaction !== 'dcqcn') return fail(`--reaction: none or dcqcn, not ${JSON.stringify(reaction)}`);
  const base = scaledDcqcn(rate);
  return {
    ...base,
    minimumRate: read(options, 'min-rate', parseRate, base.minimumRate),
    additiveIncrease: read(options, 'additive', parseRate, base.additiveIncrease),
    hyperIncrease: read(options, 'hyper', parseRate, base.hyperIncrease),
    reductionIntervalMs: read(options, 'reduction-interval', parseDuration, base.reductionIntervalMs),
    increaseIntervalMs: read(options, 'increase-interval', parseDuration, base.increaseIntervalMs),
    increaseBytes: read(options, 'increase-bytes', parseSize, base.increaseBytes),
    alphaIntervalMs: read(options, 'alpha-interval', parseDuration, base.alphaIntervalMs),
  };
}

const list =
  <T>(item: Parse<T>): Parse<T[]> =>
  (s) => {
    const items = s.split(',').map(item);
    return items.includes(undefined) ? undefined : (items as T[]);
  };
const octet: Parse<number> = (s) => (/^(0x[0-9a-f]{1,2}|\d{1,3})$/i.test(s) && Number(s) < 256 ? Number(s) : undefined);
const share: Parse<number> = (s) => (/^\d{1,3}%$/.test(s) ? parseInt(s, 10) / 100 : undefined);
const oneOf =
  <T extends string>(...names: readonly T[]): Parse<T> =>
  (s) =>
    names.find((name) => name === s);

/** Undefined unless --understands is given. */
function feedback(options: Options): FeedbackOptions | undefined {
  if (options.understands === undefined) return undefined;
  const codePoint = (option: keyof Options, name: CodePointName): number =>
    read(options, option, octet, DEFAULT_CODE_POINTS[name]);
  return {
    understands: new Set(
      options.understands === 'none' ? [] : read(options, 'understands', list(oneOf(...FEEDBACK_FORMATS))),
    ),
    nodes: read(options, 'known-nodes', list(parsePrefix)),
    codes: {
      fastCnp: {
        option: codePoint('fast-cnp-option', 'fast-cnp-option'),
        ioamOption: codePoint('fast-cnp-ioam-option', 'fast-cnp-ioam-option'),
        icrc: read(options, 'icrc', oneOf('cover', 'skip'), 'cover'),
      },
      longHaulType: codePoint('long-haul-type', 'long-haul-icmpv6-type'),
      objectClass: codePoint('long-haul-object-class', 'long-haul-object-class'),
    },
  };
}

function instructed(options: Options, rate: number): InstructedRateOptions {
  const base = defaultInstructedRate(rate);
  return {
    ...base,
    minimumRate: read(options, 'min-rate', parseRate, base.minimumRate),
    recoveryStep: read(options, 'recovery-step', parseRate, base.recoveryStep),
    resumeCap: read(options, 'resume-cap', share, base.resumeCap),
  };
}

interface Role {
  onPacket(packet: RocePacket): void;
  onNotification?(format: 'fast-cnp' | 'long-haul-icmpv6', packet: Uint8Array): void;
  /** On the first SIGINT or SIGTERM. */
  stop(): void;
}

const report = jsonLines((line) => process.stdout.write(line), monotonicMs);

function listen(options: Options, address: IpAddress, port: () => RocePort, end: (ok: boolean) => void): Role {
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
      send: (packet) => port().send(packet),
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

function send(options: Options, address: IpAddress, port: () => RocePort, end: (ok: boolean) => void): Role {
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
    { now: monotonicMs, send: (packet) => port().send(packet), report, onEnd: end },
  );
  setImmediate(() => sender.start());
  return {
    onPacket: (packet) => sender.onPacket(packet),
    onNotification: (format, packet) => sender.onNotification(format, packet),
    stop: () => sender.stop(),
  };
}

const ROLES = { listen, send } as const;

function main(): void {
  const { values, positionals } = (() => {
    try {
      return parseArgs({ options: OPTIONS, allowPositionals: true });
    } catch (error) {
      return fail((error as Error).message);
    }
  })();
  const role = ROLES[positionals[0] as keyof typeof ROLES] ?? fail('say listen or send');
  const address = read(values, 'address', parseAddress);
  const poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  const bad: Record<string, number> = {};
  const end = (ok: boolean): void => {
    report('port', { receiveDrops: opened.receiveDrops(), bad });
    opened.close();
    poller.close();
    process.exitCode = ok ? 0 : 1;
  };
  const started = role(values, address, () => opened, end);
  const understood = positionals[0] === 'send' ? feedback(values) : undefined;
  const notifications = understood && { codes: understood.codes, fastCnp: understood.understands.has('fast-cnp') };
  const opened: RocePort = openRocePort(
    { interface: read(values, 'interface', (s) => s), address, notifications },
    {
      poller,
      onPacket: (packet) => started.onPacket(packet),
      onNotification: (format, packet) => started.onNotification?.(format, packet),
      onBad: (code) => (bad[code] = (bad[code] ?? 0) + 1),
      onError: (error) => report('error', { message: error.message }),
    },
  );
  report('ready', { role: positionals[0], pid: process.pid });
  process.on('SIGTERM', () => started.stop());
  process.on('SIGINT', () => started.stop());
}

keepInspectorShut();
main();
