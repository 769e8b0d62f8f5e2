// The endpoint's command line: its options, and how their values are read. A mistake ends the process with status 2.
import { randomInt } from 'node:crypto';
import { type CodePointName, DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { parsePrefix } from '../../model/prefix.ts';
import { parseDuration, parseRate, parseSize } from '../units.ts';
import { type DcqcnOptions, scaledDcqcn } from '../../source/dcqcn.ts';
import { FEEDBACK_FORMATS } from './feedback.ts';
import type { FeedbackOptions } from './feedback-point.ts';
import { type InstructedRateOptions, defaultInstructedRate } from '../../source/instructed-rate.ts';

const USAGE = `usage:
  roce-endpoint listen --interface IF --address ADDR [--cnp-interval 50us|off] [--report 100ms]
  roce-endpoint send --interface IF --address ADDR --peer ADDR [--reaction none|dcqcn] [--rate 100mbit] [--duration 10s]
                     [--payload 1024] [--message 16] [--window 16384] [--timeout 1s] [--port 18515] [--qpn N] [--report 100ms]
                     [--min-rate 1mbit] [--additive 500kbit] [--hyper 2mbit] [--reduction-interval 10ms]
                     [--increase-interval 50ms] [--increase-bytes 1250kB] [--alpha-interval 10ms]
                     [--understands fast-cnp,long-haul-icmpv6,long-haul-roce] [--known-nodes PREFIX,…] [--rtt 10ms] [--icrc cover|skip]
                     [--fast-cnp-option 0x9e] [--fast-cnp-ioam-option 0x9e] [--long-haul-type 200] [--long-haul-object-class 247]
                     [--recovery-step 5mbit] [--resume-cap 50%]
  roce-endpoint source --interface IF --address ADDR --to ADDR/QPN[,ADDR/QPN…] --bytes 4MB [--qpn N] [--start-psn 0]
                     [--r-key N --virtual-address 0] [--payload 1024] [--message 16] [--window 64] [--rate 100mbit]
                     [--timeout 100ms] [--retries 7] [--reaction none|dcqcn] [--report 100ms] [--lose N]
  roce-endpoint receive --interface IF --address ADDR --qpn N --from ADDR/QPN [--start-psn 0|any] [--bytes 4MB]
                     [--r-key N --virtual-address 0] [--not-ready-every N] [--cnp-interval 50us|off] [--lose N]
                     [--also ADDR/QPN/PEERQPN[,ADDR/QPN/PEERQPN…]]
source and receive have Queue Pairs that were agreed upon elsewhere: no connection management. A source's Queue Pairs are --qpn and those that follow, one for each
peer. On SIGUSR2 a source ends with the message under way. With --r-key it sends WRITEs, else SENDs. --also are other receivers of this host, of the same peer. --lose drops
one of N packets that arrive; --not-ready-every answers every Nth SEND with an RNR NAK first.
--understands makes the sender act upon notifications of nodes on the way, from --known-nodes only; 'none' reads them all as a card would that knows only CNPs.
One JSON object a line on standard output; t is CLOCK_MONOTONIC in ms.
`;

export const fail = (message: string): never => {
  process.stderr.write(`roce-endpoint: ${message}\n${USAGE}`);
  process.exit(2);
};

const text = { type: 'string' } as const;
export const OPTIONS = {
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
  to: text,
  from: text,
  bytes: text,
  'start-psn': text,
  'r-key': text,
  'virtual-address': text,
  retries: text,
  lose: text,
  'not-ready-every': text,
  also: text,
} as const;
export type Options = { readonly [K in keyof typeof OPTIONS]?: string };

export type Parse<T> = (text: string) => T | undefined;
export const count: Parse<number> = (s) => (/^[1-9]\d*$/.test(s) ? Number(s) : undefined);

export function read<T>(options: Options, name: keyof Options, parse: Parse<T>, otherwise?: T): T {
  const given = options[name];
  if (given === undefined) return otherwise ?? fail(`--${name} is missing`);
  return parse(given) ?? fail(`--${name}: cannot read ${JSON.stringify(given)}`);
}

export const drawPsn = (): number => randomInt(1 << 24);
export const drawCommId = (): number => randomInt(1, 0x1_0000_0000);
/** Queue Pairs 0 and 1 are the management's. */
export const drawQpn = (): number => randomInt(0x100, 1 << 24);

export function dcqcn(options: Options, rate: number): DcqcnOptions | undefined {
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

export const list =
  <T>(item: Parse<T>): Parse<T[]> =>
  (s) => {
    const items = s.split(',').map(item);
    return items.includes(undefined) ? undefined : (items as T[]);
  };
/** Decimal, or hexadecimal behind `0x`. */
export const unsigned: Parse<number> = (s) => (/^(0x[0-9a-f]+|\d+)$/i.test(s) ? Number(s) : undefined);
const octet: Parse<number> = (s) => (/^(0x[0-9a-f]{1,2}|\d{1,3})$/i.test(s) && Number(s) < 256 ? Number(s) : undefined);
const share: Parse<number> = (s) => (/^\d{1,3}%$/.test(s) ? parseInt(s, 10) / 100 : undefined);
const oneOf =
  <T extends string>(...names: readonly T[]): Parse<T> =>
  (s) =>
    names.find((name) => name === s);

/** Undefined unless --understands is given. */
export function feedback(options: Options): FeedbackOptions | undefined {
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

export function instructed(options: Options, rate: number): InstructedRateOptions {
  const base = defaultInstructedRate(rate);
  return {
    ...base,
    minimumRate: read(options, 'min-rate', parseRate, base.minimumRate),
    recoveryStep: read(options, 'recovery-step', parseRate, base.recoveryStep),
    resumeCap: read(options, 'resume-cap', share, base.resumeCap),
  };
}
