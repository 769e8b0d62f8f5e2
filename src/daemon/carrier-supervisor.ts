// One carrier's life beside the daemon's: there while the intent has its section, created anew when what it is has
// changed, told what to advertise. What it taught is held when it goes, as if its originators had become unreachable.
import { isDeepStrictEqual } from 'node:util';
import type { Carrier } from '../carriers/carrier.ts';
import { carrierNotStarted } from '../diagnosis/configuration.ts';
import type { Intent } from '../intent/intent.ts';
import type { CarrierName, Origination } from '../model/advertisement.ts';
import type { Problem } from '../model/problem.ts';

/** What the supervisor asks of its carrier. */
export interface SupervisedCarrier<Section> extends Carrier {
  stop(next?: Section): Promise<void>;
  /** Takes over what can be changed in flight. False: the carrier must be created anew. */
  update(section: Section): boolean;
}

export interface CarrierSupervisorOptions<C extends SupervisedCarrier<Section>, Section> {
  readonly name: CarrierName;
  /** Its section of the intent; undefined: it does not run. */
  readonly section: (intent: Intent) => Section | undefined;
  /** What of the intent it reads only when it is created, its section aside. */
  readonly identity: (intent: Intent) => unknown;
  readonly create: (section: Section, intent: Intent) => C;
  /** How long what it taught is held after it was stopped, ms. */
  readonly holdMs: (section: Section | undefined) => number;
  readonly onStopped: (carrier: CarrierName, holdMs: number) => void;
}

export class CarrierSupervisor<C extends SupervisedCarrier<Section>, Section> {
  readonly #options: CarrierSupervisorOptions<C, Section>;
  #carrier: C | undefined;
  #problem: Problem | undefined;
  #startedAt = 0;
  /** That of the carrier that runs. */
  #identity: unknown;

  constructor(options: CarrierSupervisorOptions<C, Section>) {
    this.#options = options;
  }

  get carrier(): C | undefined {
    return this.#carrier;
  }

  /** Milliseconds since 1970; 0 before the first start. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** Why there is no carrier though the intent asks for one; the next reload tries again. */
  get problems(): readonly Problem[] {
    return this.#problem ? [this.#problem] : [];
  }

  /** @throws what the carrier's start rejects with; it is among the problems then too. */
  async start(intent: Intent, origination: Origination): Promise<void> {
    const { name, section: sectionOf, identity, create } = this.#options;
    const section = sectionOf(intent);
    this.#problem = undefined;
    if (section === undefined) return;
    const carrier = create(section, intent);
    this.#carrier = carrier;
    this.#identity = identity(intent);
    this.#startedAt = Date.now();
    carrier.originate(origination);
    try {
      await carrier.start();
    } catch (error) {
      await carrier.stop();
      this.#carrier = undefined;
      this.#problem = carrierNotStarted(name, error);
      throw error;
    }
  }

  /** @param changed its section did */
  async reload(intent: Intent, origination: Origination, changed: boolean): Promise<void> {
    const section = this.#options.section(intent);
    const same = isDeepStrictEqual(this.#identity, this.#options.identity(intent));
    const keep = this.#carrier && section !== undefined && same && (!changed || this.#carrier.update(section));
    if (keep) return this.#carrier!.originate(origination);
    if (this.#carrier) {
      await this.#carrier.stop(section);
      this.#carrier = undefined;
      this.#options.onStopped(this.#options.name, this.#options.holdMs(section));
    }
    await this.start(intent, origination);
  }

  async stop(): Promise<void> {
    await this.#carrier?.stop();
  }
}
