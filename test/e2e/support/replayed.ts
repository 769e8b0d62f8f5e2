// A running daemon is recorded while its machines begin anew (`cnpctl record start --restart`), and the file is
// replayed in the process of the test: the end of the replay has to be what the daemon showed.
import { expect } from 'vitest';
import { replayCommand } from '../../../src/replay/command.ts';
import type { Router, Row } from './network.ts';

/** A view as `cnpctl show` names it, and those of its fields that do not change from one second to the next. */
export interface LastingView {
  readonly view: readonly string[];
  readonly fields: readonly string[];
}

export const LEARNED: LastingView = {
  view: ['senders'],
  fields: ['prefix', 'proxy', 'best', 'pnc', 'metric', 'carrier', 'originator', 'source'],
};

export const lasting = (rows: readonly Row[], { fields }: LastingView): Row[] =>
  rows.map((row) => Object.fromEntries(fields.map((name) => [name, row[name]])));

/** As `cnpd replay -o json FILE VIEW` prints it. */
async function replayedView(file: string, { view }: LastingView): Promise<Row[]> {
  let [out, err] = ['', ''];
  const streams = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
  const all = view[0] === 'senders' ? ['--all'] : [];
  const code = await replayCommand(file, [...view, ...all], { output: 'json', partial: false }, streams);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Row[];
}

/**
 * @param machines that are to be in the recording, and no others
 * @param relearned waits until the router has learned everything again
 * @returns the recording's file in the router, and what was replayed, by view
 */
export async function replaysAsShown(
  router: Router,
  machines: readonly string[],
  relearned: () => Promise<unknown>,
  views: readonly LastingView[],
): Promise<{ file: string; replayed: Row[][] }> {
  const started = await router.ctl('record', 'start', '--restart', '-o', 'json');
  expect([started.code, started.stderr]).toEqual([0, '']);
  const { file, machines: recorded } = JSON.parse(started.stdout) as { file: string; machines: string[] };
  expect([...recorded].sort()).toEqual([...machines].sort());
  await relearned();
  const shown = (): Promise<Row[][]> =>
    Promise.all(views.map(async (view) => lasting(await router.get(...view.view), view)));
  const before = await shown();
  expect((await router.ctl('record', 'stop')).code).toBe(0);
  const live = [before, await shown()];
  const inTest = `/proc/${router.pid}/root${file}`;
  const replayed = await Promise.all(views.map(async (view) => lasting(await replayedView(inTest, view), view)));
  expect(live).toContainEqual(replayed);
  return { file, replayed };
}
