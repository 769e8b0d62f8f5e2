// Everything that happens by itself: each row says when it is due and what it does then. Every run is bounded, so that
// one turn of the event loop stays short however much there is to do; what is left makes the row due again at once.
import { holdExpired, sendHello } from './adjacency/interface.ts';
import { sweep } from './flooding/ageing.ts';
import { leakDue } from './leaking/leaking.ts';
import { doubtAt } from './flooding/doubt.ts';
import { doubtDue } from './flooding/store.ts';
import { expandAt, expandDue } from './lsdb/expansion.ts';
import { floodDue } from './flooding/flooding.ts';
import { takeInbox } from './inbox.ts';
import { issueDue, refreshDue } from './own/origination.ts';
import { placeDue } from './own/desired.ts';
import { forgetDue, walkDue } from './lsdb/reachability.ts';
import { ackDue, csnpDue, requestDue } from './flooding/snp.ts';
import type { LevelState, Speaker } from './state.ts';

interface SpeakerTask {
  readonly name: string;
  due(s: Speaker): number;
  run(s: Speaker): void;
}

interface LevelTask {
  readonly name: string;
  due(level: LevelState): number;
  run(s: Speaker, level: LevelState): void;
}

const SPEAKER_TASKS: readonly SpeakerTask[] = [
  {
    name: 'inbox',
    due: (s) => (s.inbox.hellos.length + s.inbox.others.length > s.inbox.taken ? -Infinity : Infinity),
    run: takeInbox,
  },
  { name: 'hello', due: (s) => s.helloAt, run: sendHello },
  {
    name: 'hold',
    due: (s) => (s.adjacency && s.adjacency.state !== 'down' ? s.adjacency.holdUntil : Infinity),
    run: holdExpired,
  },
  { name: 'place', due: (s) => (s.pending.size > 0 ? -Infinity : Infinity), run: placeDue },
  { name: 'leak', due: (s) => s.leaking.queue.dueAt, run: leakDue },
  { name: 'stop', due: (s) => (s.stopping && !s.stopping.done ? s.stopping.deadline : Infinity), run: () => {} },
];

const LEVEL_TASKS: readonly LevelTask[] = [
  { name: 'refresh', due: (level) => level.own.refreshAt, run: refreshDue },
  { name: 'issue', due: (level) => level.own.issueAt, run: issueDue },
  { name: 'csnp', due: (level) => level.csnpAt, run: csnpDue },
  { name: 'acknowledge', due: (level) => level.ackAt, run: ackDue },
  { name: 'request', due: (level) => level.requestAt, run: requestDue },
  { name: 'flood', due: (level) => level.floodAt, run: floodDue },
  { name: 'age', due: (level) => level.lsdb.sweepAt, run: sweep },
  { name: 'walk', due: (level) => level.graph.walkAt, run: walkDue },
  { name: 'expand', due: expandAt, run: expandDue },
  { name: 'doubt', due: doubtAt, run: doubtDue },
  { name: 'forget', due: (level) => level.graph.forgetAt, run: forgetDue },
];

export function runDue(s: Speaker): void {
  for (const task of SPEAKER_TASKS) if (task.due(s) <= s.now) task.run(s);
  for (const level of s.levels.values()) {
    for (const task of LEVEL_TASKS) if (task.due(level) <= s.now) task.run(s, level);
  }
}

/** When the next `timer` event is needed: −Infinity for at once, Infinity for never. */
export function nextWake(s: Speaker): number {
  let next = Infinity;
  for (const task of SPEAKER_TASKS) next = Math.min(next, task.due(s));
  for (const level of s.levels.values()) for (const task of LEVEL_TASKS) next = Math.min(next, task.due(level));
  return next;
}
