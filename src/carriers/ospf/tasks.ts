// Everything that happens by itself: each row says when it is due and what it does then. Every run is bounded, so that
// one turn of the event loop stays short however much there is to do; what is left makes the row due again.
import { sweep } from './flooding/ageing.ts';
import { ddDue } from './exchange/describe.ts';
import { ackDue, floodDue } from './flooding/flooding.ts';
import { takeInbox } from './inbox.ts';
import { inactivityDue, sendHello } from './neighbor/interface.ts';
import type { Neighbor } from './neighbor/neighbor.ts';
import { issueDue, refreshDue, takeOverDue } from './own/own.ts';
import { requestDue } from './exchange/requests.ts';
import type { AreaState, Speaker } from './state.ts';

interface AreaTask {
  readonly name: string;
  due(area: AreaState): number;
  run(s: Speaker, area: AreaState): void;
}

interface NeighborTask {
  readonly name: string;
  due(neighbor: Neighbor): number;
  run(s: Speaker, area: AreaState, neighbor: Neighbor): void;
}

const AREA_TASKS: readonly AreaTask[] = [
  { name: 'inbox', due: ({ inbox }) => (inbox.length > 0 ? -Infinity : Infinity), run: takeInbox },
  { name: 'hello', due: ({ helloAt }) => helloAt, run: sendHello },
  { name: 'inactive', due: ({ neighbor }) => neighbor?.inactiveAt ?? Infinity, run: inactivityDue },
  { name: 'refresh', due: ({ own }) => own.refreshAt, run: refreshDue },
  { name: 'take over', due: ({ own }) => (own.takingOver ? -Infinity : Infinity), run: takeOverDue },
  { name: 'issue', due: ({ own }) => own.issueAt, run: issueDue },
  { name: 'age', due: ({ lsdb }) => (lsdb.pass ? -Infinity : lsdb.sweepAt), run: sweep },
];

const NEIGHBOR_TASKS: readonly NeighborTask[] = [
  { name: 'describe', due: ({ ddAt }) => ddAt, run: ddDue },
  { name: 'request', due: ({ requestAt }) => requestAt, run: requestDue },
  { name: 'acknowledge', due: ({ ackAt }) => ackAt, run: ackDue },
  { name: 'flood', due: ({ floodAt }) => floodAt, run: floodDue },
];

export function runDue(s: Speaker): void {
  for (const area of s.areas.values()) {
    for (const task of AREA_TASKS) if (task.due(area) <= s.now) task.run(s, area);
    for (const task of NEIGHBOR_TASKS) {
      const { neighbor } = area;
      if (neighbor && task.due(neighbor) <= s.now) task.run(s, area, neighbor);
    }
  }
}

/** When the next `timer` event is needed: −Infinity for at once, Infinity for never. */
export function nextWake(s: Speaker): number {
  let next = s.stopping && !s.stopping.done ? s.stopping.deadline : Infinity;
  for (const area of s.areas.values()) {
    for (const task of AREA_TASKS) next = Math.min(next, task.due(area));
    if (area.neighbor) for (const task of NEIGHBOR_TASKS) next = Math.min(next, task.due(area.neighbor));
  }
  return next;
}
