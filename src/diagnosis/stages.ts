// The stages of a start: until each is done, or a problem names why it is not, cnpd is `starting`.
import type { Problem } from '../model/problem.ts';
import type { CarrierSummary, Stage } from '../model/telemetry-state.ts';

export interface StageInputs {
  /** The kernel's programs and maps are opened. */
  readonly isKernelOpen: boolean;
  /** A plan has been applied. */
  readonly isPlanned: boolean;
  readonly carriers: readonly CarrierSummary[];
  readonly problems: readonly Problem[];
}

export function stagesOf({ isKernelOpen, isPlanned, carriers, problems }: StageInputs): Stage[] {
  return [
    stage('kernel', isKernelOpen, 'programs and maps are not opened yet'),
    stage('plan', isPlanned, 'the file is not applied to the kernel yet'),
    ...carriers.map((summary) => carrierStage(summary, problems)),
  ];
}

const stage = (name: string, isDone: boolean, reason: string): Stage =>
  isDone ? { name, state: 'done', reason: '' } : { name, state: 'waiting', reason };

function carrierStage({ carrier, running, adjacencies }: CarrierSummary, problems: readonly Problem[]): Stage {
  if (running && adjacencies.length > 0 && adjacencies.every(({ isUp }) => isUp)) return stage(carrier, true, '');
  const named = problems.filter(({ feature }) => feature === carrier).map(({ code }) => code);
  if (named.length > 0) return { name: carrier, state: 'problem', reason: [...new Set(named)].join(', ') };
  const down = adjacencies.filter(({ isUp }) => !isUp).map((adjacency) => adjacency.interface);
  const reason = !running
    ? 'it is not started yet'
    : carrier === 'bgp'
      ? 'gobgpd is not ready yet'
      : `no neighbor is up yet on ${down.join(', ')}`;
  return { name: carrier, state: 'waiting', reason };
}
