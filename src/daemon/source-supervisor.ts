// Reads what the source's program has taken while the desired state has a source.
import type { Poller } from '../kernel/poller.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Source } from '../reconcile/source.ts';
import { ReceivedNotifications } from '../source/received.ts';

export interface SourceSupervisorDependencies {
  readonly poller: Poller;
}

export class SourceSupervisor {
  readonly #dependencies: SourceSupervisorDependencies;
  #received: ReceivedNotifications | undefined;
  #feature: Source | undefined;
  #reader: { close(): void } | undefined;

  constructor(dependencies: SourceSupervisorDependencies) {
    this.#dependencies = dependencies;
  }

  /** Undefined while this router takes no notifications. */
  get received(): ReceivedNotifications | undefined {
    return this.#received;
  }

  /** Follows a new plan. @throws KernelError when the ring of records cannot be mapped */
  apply({ source }: Pick<DesiredState, 'source'>, feature: Source | undefined): void {
    if (!source || !feature) return this.stop();
    const received = (this.#received ??= new ReceivedNotifications());
    received.configure(source.senders.map(({ prefix }) => prefix));
    if (this.#feature === feature) return;
    this.#reader?.close();
    this.#reader = feature.onNotification((taken) => received.add(taken), this.#dependencies);
    this.#feature = feature;
  }

  stop(): void {
    this.#reader?.close();
    this.#reader = this.#feature = this.#received = undefined;
  }
}
