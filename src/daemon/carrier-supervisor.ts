// The life cycle of one carrier. It runs while the intent has its section, is created anew when its identity changes,
// and is handed the origination. When it stops, its learned entries are held, as if their originators had become
// unreachable.
import { isDeepStrictEqual } from 'node:util';
import type { Carrier } from '../carriers/carrier.ts';
import { carrierNotStarted } from '../diagnosis/configuration.ts';
import type { Intent } from '../intent/intent.ts';
import type { CarrierName, Origination } from '../model/advertisement.ts';
import type { Problem } from '../model/problem.ts';

/** A carrier that the supervisor can run. */
export interface SupervisedCarrier<Section> extends Carrier {
  stop(next?: Section): Promise<void>;
  /** Applies changes that are possible while it runs. Returns false if the carrier must be created anew. */
  update(section: Section): boolean;
}

export interface CarrierSupervisorOptions<C extends SupervisedCarrier<Section>, Section> {
  readonly name: CarrierName;
  /** Its section of the intent; undefined: it does not run. */
  readonly section: (intent: Intent) => Section | undefined;
  /** The parts of the intent, besides its section, that the carrier reads only when it is created. */
  readonly identity: (intent: Intent) => unknown;
  readonly create: (section: Section, intent: Intent) => C;
  /** How long learned entries are held after the carrier was stopped, ms. */
  readonly holdMs: (section: Section | undefined) => number;
  readonly onStopped: (carrier: CarrierName, holdMs: number) => void;
}

export class CarrierSupervisor<C extends SupervisedCarrier<Section>, Section> {
  readonly #options: CarrierSupervisorOptions<C, Section>;
  #carrier: C | undefined;
  #problem: Problem | undefined;
  #startedAt = 0;
  /** The section and the identity that the running carrier follows. */
  #section: Section | undefined;
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

  /** Why a declared carrier does not run; the next reload tries again. */
  get problems(): readonly Problem[] {
    return this.#problem ? [this.#problem] : [];
  }

  /** @throws the error of the carrier's start; it is then also a problem. */
  async start(intent: Intent, origination: Origination): Promise<void> {
    const { name, section: sectionOf, identity, create } = this.#options;
    const section = sectionOf(intent);
    this.#problem = undefined;
    if (section === undefined) return;
    const carrier = create(section, intent);
    this.#carrier = carrier;
    this.#section = section;
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

  /**
   * Compares with what the carrier follows, not with the last intent: that one may have failed before it came here.
   * @throws like start
   */
  async reload(intent: Intent, origination: Origination): Promise<void> {
    const section = this.#options.section(intent);
    if (this.#carrier && section !== undefined && this.#follows(section, intent)) {
      this.#section = section;
      return this.#carrier.originate(origination);
    }
    await this.restart(intent, origination);
  }

  /** Stops the carrier, and creates it anew as it is declared. @throws like start */
  async restart(intent: Intent, origination: Origination): Promise<void> {
    const section = this.#options.section(intent);
    if (this.#carrier) {
      await this.#carrier.stop(section);
      this.#carrier = undefined;
      this.#options.onStopped(this.#options.name, this.#options.holdMs(section));
    }
    await this.start(intent, origination);
  }

  /** Whether the running carrier needs no replacement to follow this intent. */
  #follows(section: Section, intent: Intent): boolean {
    if (!isDeepStrictEqual(this.#identity, this.#options.identity(intent))) return false;
    return isDeepStrictEqual(this.#section, section) || this.#carrier!.update(section);
  }

  async stop(): Promise<void> {
    await this.#carrier?.stop();
  }
}
