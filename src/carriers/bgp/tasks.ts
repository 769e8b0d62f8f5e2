// What the content does by itself (carriers/tasks.ts).
import { advance } from '../../model/work.ts';
import { type Task, atOnceIf, stopDeadline, wakesAt, wholeTasks } from '../tasks.ts';
import { SLICE } from './constants.ts';
import { learnWake, runLearning } from './learning/learning.ts';
import { echoDue } from './own/echo.ts';
import { changesDue } from './own/own.ts';
import type { Content } from './state.ts';

const TASKS: readonly Task<Content>[] = [
  { name: 'declare', due: ({ declaring }) => atOnceIf(declaring !== undefined), run: declareDue },
  { name: 'audit', due: ({ own }) => atOnceIf(own.audit !== undefined), run: auditDue },
  { name: 'learn', due: learnWake, run: runLearning },
  wakesAt('change', changesDue),
  wakesAt('look', echoDue),
  stopDeadline,
];

function declareDue(c: Content): void {
  if (c.declaring && advance(c.declaring, SLICE)) c.declaring = undefined;
}

/** What a declaration has not come to yet would look unwanted. */
function auditDue({ own, declaring }: Content): void {
  if (own.audit && !declaring && advance(own.audit, SLICE)) own.audit = undefined;
}

export const { runDue, nextWake: contentWake } = wholeTasks(TASKS);
