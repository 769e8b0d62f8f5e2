// `cnpd replay FILE [VIEW]`: what `cnpctl show VIEW` would print at the end of a recording; without a view all that its
// machines have.
import { fail } from 'node:assert';
import type { CliDependencies } from '../cli/context.ts';
import { printable } from '../cli/table.ts';
import { runCnpctl } from '../cli/program.ts';
import { messageOf } from '../model/error-text.ts';
import type { MachineName } from '../model/recording.ts';
import { eventLoopWork } from '../model/work.ts';
import type { NorthboundClient } from '../northbound/client.ts';
import { localGet } from '../northbound/local.ts';
import { type Replayed, replay } from './replay.ts';
import { replayedState } from './state.ts';

export interface ReplayOptions {
  readonly output: 'table' | 'json';
  readonly partial: boolean;
}

interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** The views of each machine, in the words of `cnpctl show`. */
const VIEWS: Readonly<Record<MachineName, readonly string[]>> = {
  isis: ['isis neighbors', 'isis database'],
  ospfv2: ['ospfv2 neighbors', 'ospfv2 database'],
  ospfv3: ['ospfv3 neighbors', 'ospfv3 database'],
  'ospfv2-content': [],
  'ospfv3-content': [],
  bgp: ['bgp'],
  holds: ['holds'],
  received: ['received'],
  'flow-control-asked': ['flow-control'],
  'flow-control-paused': [],
};

/** The exit code: 0, or 1 for a file that cannot be replayed, or that of cnpctl. */
export async function replayCommand(
  path: string,
  view: readonly string[],
  { output, partial }: ReplayOptions,
  streams: Streams,
): Promise<number> {
  let replayed: Replayed;
  try {
    replayed = replay(path, { partial });
  } catch (error) {
    streams.err(`cnpd: ${path}: ${printable(messageOf(error))}\n`);
    return 1;
  }
  const show = shower(path, replayed, output, streams);
  if (view.length > 0) return show(view, streams.out);
  return output === 'json' ? showJson(path, replayed, show, streams) : showText(path, replayed, show, streams);
}

type Show = (view: readonly string[], out: (text: string) => void) => Promise<number>;

function viewsOf({ machines }: Replayed): string[] {
  const names = Object.keys(machines) as MachineName[];
  return [...names.flatMap((name) => VIEWS[name]), 'senders --all', 'counters --total'];
}

async function showText(path: string, replayed: Replayed, show: Show, { out }: Streams): Promise<number> {
  out(`${summary(path, replayed).join('\n')}\n`);
  for (const view of viewsOf(replayed)) {
    out(`\n${view.split(' --')[0]}:\n`);
    await show(view.split(' '), out);
  }
  return 0;
}

/** One object: a member a view. */
async function showJson(path: string, replayed: Replayed, show: Show, { out }: Streams): Promise<number> {
  const views: Record<string, unknown> = {};
  for (const view of viewsOf(replayed)) {
    let text = '';
    await show(view.split(' '), (more) => void (text += more));
    views[view.split(' --')[0]!] = JSON.parse(text);
  }
  const { header, events, end } = replayed;
  const recording = { file: path, cnpd: header.cnpd, events: Object.fromEntries(events), end: end ?? null };
  out(`${JSON.stringify({ recording, views }, null, 2)}\n`);
  return 0;
}

function summary(path: string, { header, events, now, end }: Replayed): string[] {
  const seconds = ((now - header.now) / 1000).toFixed(1);
  return [
    `${path}: recorded by cnpd ${printable(header.cnpd)} from ${new Date(header.wall).toISOString()} on, ${seconds} s, ` +
      (end === undefined ? 'a part' : `ended: ${end}`),
    ...[...events].map(([name, count]) => `${name}: ${count} events`),
  ];
}

function shower(path: string, replayed: Replayed, output: ReplayOptions['output'], { err }: Streams): Show {
  const state = replayedState(path, replayed);
  const work = eventLoopWork();
  const { header, now } = replayed;
  const none = (): never => fail('a recording cannot be changed');
  const client: NorthboundClient = {
    get: (names) => localGet(state, names, work),
    listening: async () => true,
    close: () => undefined,
    ...{ getRaw: none, set: none, restartGroup: none, logLevels: none, record: none, release: none, reload: none },
    ...{ plan: none, apply: none, confirm: none, rollBack: none, configuration: none },
  };
  return (view, out) => {
    const dependencies: CliDependencies = {
      ...{ version: header.cnpd, out, err, terminal: false, color: false, connect: () => client },
      nowMs: () => header.wall + now - header.now,
      pause: async () => false,
      ...{
        examine: none,
        socketOf: none,
        uninstall: none,
        check: none,
        readFile: () => undefined,
        writeFile: none,
        openRemote: none,
        bundleSources: none,
      },
    };
    return runCnpctl(['-o', output, 'show', ...view], dependencies);
  };
}
