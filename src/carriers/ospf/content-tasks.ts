// The tasks of the content (carriers/tasks.ts).
import { type Task, atOnceIf, inOrder, tasksOf, wholeTasks } from '../tasks.ts';
import { interAreaDue } from './leaking/leaking.ts';
import type { AreaContent, Content } from './content-state.ts';
import { reportDue } from './learning/learning.ts';
import { declareDue, issueDue } from './own/origination.ts';
import { forgetDue, walkDue } from './learning/reachability.ts';

const AREA_TASKS: readonly Task<Content, AreaContent>[] = [
  { name: 'walk', due: ({ graph }) => (graph.walk ? -Infinity : graph.walkAt), run: walkDue },
  { name: 'report', due: ({ outdated }) => atOnceIf(outdated.size > 0), run: reportDue },
  { name: 'forget', due: ({ graph }) => graph.forgetAt, run: forgetDue },
];

const CONTENT_TASKS: readonly Task<Content>[] = [
  { name: 'declare', due: ({ declaring }) => atOnceIf(declaring !== undefined), run: declareDue },
  { name: 'inter-area', due: ({ interArea }) => interArea.queue.dueAt, run: interAreaDue },
  {
    name: 'issue',
    due: ({ areas }) => atOnceIf([...areas.values()].some(({ changedAt }) => changedAt !== undefined)),
    run: issueDue,
  },
];

export const { runDue, nextWake: contentWake } = inOrder<Content>(
  tasksOf((c) => c.areas.values(), AREA_TASKS),
  wholeTasks(CONTENT_TASKS),
);
