// Puts a new intent into force while the daemon runs: first in the plan, then in the carriers. One that fails does not
// block the other: the plan is retried by itself, but the carriers would keep the old intent until another reload.
import type { Coordinator } from '../coordinator/coordinator.ts';
import type { Intent } from '../intent/intent.ts';
import type { Carriers } from './carriers.ts';

export interface IntentFollowers {
  readonly coordinator: Pick<Coordinator, 'adopt' | 'origination'>;
  readonly carriers: Pick<Carriers, 'reload'>;
}

/** Must run within the coordinator's inTurn. @throws the first error; everything has been tried */
export async function putInForce(intent: Intent, { coordinator, carriers }: IntentFollowers): Promise<void> {
  const errors: Error[] = [];
  const keep = (cause: unknown): void => void errors.push(cause instanceof Error ? cause : new Error(String(cause)));
  await coordinator.adopt(intent).catch(keep);
  await carriers.reload(intent, coordinator.origination).catch(keep);
  if (errors[0]) throw errors[0];
}
