// The tasks of a speaker (carriers/tasks.ts).
import { type Task, atOnceIf, inOrder, stopDeadline, tasksOf, wholeTasks } from '../tasks.ts';
import { sweep } from './flooding/aging.ts';
import { ddDue } from './exchange/describe.ts';
import { ackDue, floodDue } from './flooding/flooding.ts';
import { takeInbox } from './inbox.ts';
import { inactivityDue, sendHello } from './neighbor/interface.ts';
import type { Neighbor } from './neighbor/neighbor.ts';
import { issueDue, refreshDue, takeOverDue } from './own/own.ts';
import { requestDue } from './exchange/requests.ts';
import type { AreaState, Speaker } from './state.ts';

/** A task of the area's neighbor, while there is one. */
const ofNeighbor = (
  name: string,
  due: (neighbor: Neighbor) => number,
  run: (s: Speaker, area: AreaState, neighbor: Neighbor) => void,
): Task<Speaker, AreaState> => ({
  name,
  due: ({ neighbor }) => (neighbor ? due(neighbor) : Infinity),
  run: (s, area) => run(s, area, area.neighbor!),
});

const AREA_TASKS: readonly Task<Speaker, AreaState>[] = [
  { name: 'inbox', due: ({ inbox }) => atOnceIf(inbox.length > 0), run: takeInbox },
  { name: 'hello', due: ({ helloAt }) => helloAt, run: sendHello },
  ofNeighbor('inactive', ({ inactiveAt }) => inactiveAt, inactivityDue),
  { name: 'refresh', due: ({ own }) => own.refreshAt, run: refreshDue },
  { name: 'take over', due: ({ own }) => atOnceIf(own.takingOver !== undefined), run: takeOverDue },
  { name: 'issue', due: ({ own }) => own.issueAt, run: issueDue },
  { name: 'age', due: ({ lsdb }) => (lsdb.pass ? -Infinity : lsdb.sweepAt), run: sweep },
  ofNeighbor('describe', ({ ddAt }) => ddAt, ddDue),
  ofNeighbor('request', ({ requestAt }) => requestAt, requestDue),
  ofNeighbor('acknowledge', ({ ackAt }) => ackAt, ackDue),
  ofNeighbor('flood', ({ floodAt }) => floodAt, floodDue),
];

export const { runDue, nextWake } = inOrder<Speaker>(
  tasksOf((s) => s.areas.values(), AREA_TASKS),
  wholeTasks<Speaker>([stopDeadline]),
);
