// Everything that a speaker does by itself (carriers/tasks.ts).
import { type Task, atOnceIf, inOrder, stopDeadline, tasksOf, wholeTasks } from '../tasks.ts';
import { holdExpired, sendHello } from './adjacency/interface.ts';
import { sweep } from './flooding/aging.ts';
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

const SPEAKER_TASKS: readonly Task<Speaker>[] = [
  {
    name: 'inbox',
    due: ({ inbox }) => atOnceIf(inbox.hellos.length + inbox.others.length > inbox.taken),
    run: takeInbox,
  },
  { name: 'hello', due: (s) => s.helloAt, run: sendHello },
  {
    name: 'hold',
    due: (s) => (s.adjacency && s.adjacency.state !== 'down' ? s.adjacency.holdUntil : Infinity),
    run: holdExpired,
  },
  { name: 'place', due: (s) => atOnceIf(s.pending.size > 0), run: placeDue },
  { name: 'leak', due: (s) => s.leaking.queue.dueAt, run: leakDue },
  stopDeadline,
];

const LEVEL_TASKS: readonly Task<Speaker, LevelState>[] = [
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

export const { runDue, nextWake } = inOrder<Speaker>(
  wholeTasks(SPEAKER_TASKS),
  tasksOf((s) => s.levels.values(), LEVEL_TASKS),
);
