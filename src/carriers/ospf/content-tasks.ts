// What the content does by itself, as tasks.ts for the core: each row says when it is due and what it does then. Every
// run is bounded; what is left makes the row due again at once.
import { interAreaDue } from './leaking/leaking.ts';
import type { AreaContent, Content } from './content-state.ts';
import { reportDue } from './learning/learning.ts';
import { declareDue, issueDue } from './own/origination.ts';
import { forgetDue, walkDue } from './learning/reachability.ts';

interface ContentTask {
  readonly name: string;
  due(c: Content): number;
  run(c: Content): void;
}

interface AreaTask {
  readonly name: string;
  due(area: AreaContent): number;
  run(c: Content, area: AreaContent): void;
}

const AREA_TASKS: readonly AreaTask[] = [
  { name: 'walk', due: ({ graph }) => (graph.walk ? -Infinity : graph.walkAt), run: walkDue },
  { name: 'report', due: ({ outdated }) => (outdated.size > 0 ? -Infinity : Infinity), run: reportDue },
  { name: 'forget', due: ({ graph }) => graph.forgetAt, run: forgetDue },
];

const CONTENT_TASKS: readonly ContentTask[] = [
  { name: 'declare', due: ({ declaring }) => (declaring ? -Infinity : Infinity), run: declareDue },
  { name: 'inter-area', due: ({ interArea }) => interArea.queue.dueAt, run: interAreaDue },
  {
    name: 'issue',
    due: ({ areas }) => ([...areas.values()].some(({ changedAt }) => changedAt !== undefined) ? -Infinity : Infinity),
    run: issueDue,
  },
];

export function runDue(c: Content): void {
  for (const area of c.areas.values()) {
    for (const task of AREA_TASKS) if (task.due(area) <= c.now) task.run(c, area);
  }
  for (const task of CONTENT_TASKS) if (task.due(c) <= c.now) task.run(c);
}

/** When the next `timer` event is needed: −Infinity for at once, Infinity for never. */
export function contentWake(c: Content): number {
  let next = Infinity;
  for (const task of CONTENT_TASKS) next = Math.min(next, task.due(c));
  for (const area of c.areas.values()) for (const task of AREA_TASKS) next = Math.min(next, task.due(area));
  return next;
}
