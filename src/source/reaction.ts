// The rate of one Queue Pair: the least of the line rate, DCQCN's response to CNPs, and the instructions of Long-haul
// CNPs. Fast CNPs and Notify get DCQCN's response, as CNPs do (LHCNP-5.5.1-a). Either part may be absent: without DCQCN
// CNPs change nothing, without instructions none are understood.
import type { LongHaulInstruction } from '../model/notification.ts';
import type { Dcqcn } from './dcqcn.ts';
import type { InstructedRate } from './instructed-rate.ts';

export class Reaction {
  readonly #lineRate: number;
  readonly #dcqcn: Dcqcn | undefined;
  readonly #instructed: InstructedRate | undefined;

  constructor(
    opts: { readonly lineRate: number },
    parts: { readonly dcqcn: Dcqcn | undefined; readonly instructed: InstructedRate | undefined },
  ) {
    this.#lineRate = opts.lineRate;
    this.#dcqcn = parts.dcqcn;
    this.#instructed = parts.instructed;
  }

  /** bit/s; pauses aside. */
  get rate(): number {
    return Math.min(this.#lineRate, this.#dcqcn?.rate ?? Infinity, this.#instructed?.rate ?? Infinity);
  }

  get alpha(): number | undefined {
    return this.#dcqcn?.alpha;
  }

  /** Cuts by DCQCN. */
  get reductions(): number {
    return this.#dcqcn?.reductions ?? 0;
  }

  get instructions(): { readonly reductions: number; readonly pauses: number; readonly resumes: number } | undefined {
    const i = this.#instructed;
    return i && { reductions: i.reductions, pauses: i.pauses, resumes: i.resumes };
  }

  /** Whether nothing may be sent now: paused or stopped. */
  halted(now: number): boolean {
    return this.rate === 0 || (this.#instructed?.paused(now) ?? false);
  }

  /** A CNP or Fast CNP for this Queue Pair. */
  onCnp(now: number, rttMs: number): void {
    this.#dcqcn?.onCnp(now);
    this.#instructed?.onNotified(now, rttMs);
  }

  onInstruction(instruction: LongHaulInstruction, now: number, rttMs: number): void {
    this.#instructed?.onInstruction(instruction, now, this.rate, rttMs);
    if (instruction.action === 'notify') this.#dcqcn?.onCnp(now);
  }

  onSent(bytes: number): void {
    this.#dcqcn?.onSent(bytes);
  }

  advance(now: number): void {
    this.#dcqcn?.advance(now);
    this.#instructed?.advance(now);
  }
}
