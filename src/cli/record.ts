// `cnpctl record start|stop|status`: recordings of the machines' events.
import { type Command, InvalidArgumentError } from 'commander';
import { RECORDING_LIMITS, type RecordingStatus } from '../model/recording.ts';
import { parseSize } from '../model/units.ts';
import type { RecordAction } from '../northbound/record-client.ts';
import { type Act, type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { onConfigSocket } from './set-socket.ts';

function bytes(text: string): number {
  const value = parseSize(text) ?? NaN;
  const { least, most } = RECORDING_LIMITS.bytes;
  if (!(value >= least && value <= most))
    throw new InvalidArgumentError(`allowed: ${least} to ${most} bytes, such as 64MB.`);
  return value;
}

function time(text: string): number {
  const { least, most } = RECORDING_LIMITS.seconds;
  if (!/^\d{1,7}$/.test(text) || Number(text) < least || Number(text) > most)
    throw new InvalidArgumentError(`allowed: ${least} to ${most} seconds.`);
  return Number(text);
}

export function addRecord(program: Command, act: Act): void {
  const { bytes: size, seconds } = RECORDING_LIMITS;
  const command = program
    .command('record')
    .description('record the events of the protocol and hold machines into a file, for `cnpd replay`');
  command
    .command('start')
    .description('begin a recording; machines are in it that begin from now on')
    .option('--restart', 'all machines begin anew: carriers withdraw and advertise again, held flows are let go')
    .option('--limit <size>', `it ends at this size (default: ${size.default} bytes)`, bytes)
    .option('--time <seconds>', `it ends after this time (default: ${seconds.default})`, time)
    .action(act(recordStart));
  command
    .command('stop')
    .description('end the recording; its file is whole then')
    .action(act((context) => record(context, { action: 'stop' })));
  command
    .command('status')
    .description('what is recorded, where, and what was dropped; exit code 1 when it has failed')
    .action(act((context) => record(context, { action: 'status' })));
}

interface RecordOptions {
  readonly restart?: boolean;
  readonly limit?: number;
  readonly time?: number;
}

const recordStart = (context: Context, { restart = false, limit, time }: RecordOptions): Promise<ExitCode> =>
  record(context, {
    ...{ action: 'start', restart },
    ...(limit !== undefined && { limitBytes: limit }),
    ...(time !== undefined && { limitSeconds: time }),
  });

/** Exit code 1: the recording has failed. */
async function record(context: Context, action: RecordAction): Promise<ExitCode> {
  const at = action.action === 'status' ? context : onConfigSocket(context);
  const status = await withCnpd(at, (client) => client.record(action));
  if (context.options.output === 'json') printJson(context, status);
  else print(context, linesOf(status));
  return status.state === 'failed' ? EXIT.problem : EXIT.ok;
}

const NAMES: Readonly<Record<RecordingStatus['state'], string>> = {
  off: 'nothing is recorded',
  recording: 'recording',
  limit: 'the recording has ended at its limit',
  failed: 'the recording has ended early',
};

function linesOf(status: RecordingStatus): string[] {
  const { state, file, startedAt, limitBytes, limitSeconds, events, bytes, dropped, reason, machines } = status;
  const name = state === 'off' && file !== undefined ? 'the recording has ended' : NAMES[state];
  const title = name + (reason === undefined ? '' : `: ${reason}`);
  if (file === undefined) return [title];
  return [
    title,
    `file      ${file}`,
    `begun     ${startedAt}`,
    `limits    ${limitBytes} bytes, ${limitSeconds} s`,
    `recorded  ${events} events, ${bytes} bytes${dropped > 0 ? `; ${dropped} events came later and are not in it` : ''}`,
    `machines  ${machines.length > 0 ? machines.join(', ') : NONE}`,
  ];
}

const NONE = 'none: those that ran before are not recorded; `cnpctl record start --restart` begins them anew';
