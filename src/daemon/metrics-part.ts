// The server of metrics and health as declared in cnpd.yaml. An address that cannot be had is a problem and is tried
// again; nothing else of cnpd waits for it.
import { InTurn } from '../coordinator/in-turn.ts';
import { metricsNotListening } from '../diagnosis/configuration.ts';
import type { Intent } from '../intent/intent.ts';
import { formatListenAddress } from '../intent/listen-address.ts';
import { messageOf } from '../model/error-text.ts';
import type { Problem } from '../model/problem.ts';
import { type MetricsDependencies, type MetricsServer, startMetricsServer } from '../northbound/metrics/server.ts';

const RETRY_MS = 5000;

type Declared = NonNullable<Intent['metrics']>;
type Refusal = NodeJS.ErrnoException;

export class MetricsPart {
  readonly #dependencies: MetricsDependencies;
  #declared: Declared | undefined;
  #server: MetricsServer | undefined;
  /** Where the server listens. */
  #at: string | undefined;
  #refusal: Refusal | undefined;
  #cancelRetry: (() => void) | undefined;
  readonly #inTurn = new InTurn();

  constructor(dependencies: MetricsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Opens, moves or closes the server. Never rejects: what cannot be done is a problem. */
  configure({ metrics }: Pick<Intent, 'metrics'>): Promise<void> {
    this.#declared = metrics;
    return this.#follow();
  }

  problems(): Problem[] {
    return this.#declared && this.#refusal
      ? [metricsNotListening(formatListenAddress(this.#declared), this.#refusal.code, messageOf(this.#refusal))]
      : [];
  }

  close(): Promise<void> {
    return this.configure({});
  }

  #follow(): Promise<void> {
    return this.#inTurn.run(() => this.#apply());
  }

  async #apply(): Promise<void> {
    const { clock, log } = this.#dependencies;
    const declared = this.#declared;
    const at = declared && formatListenAddress(declared);
    this.#cancelRetry?.();
    if (this.#server && this.#at === at) return;
    await this.#server?.close();
    this.#server = this.#at = this.#refusal = undefined;
    if (!declared) return;
    try {
      this.#server = await startMetricsServer(declared, this.#dependencies);
      this.#at = at;
      log.info({ address: at }, 'metrics and health are served');
    } catch (error) {
      this.#refusal = error as Refusal;
      this.#cancelRetry = clock.after(RETRY_MS, () => void this.#follow());
    }
  }
}
