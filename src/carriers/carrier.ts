// What every carrier is: it originates what the router advertises and reports what it learns, in any protocol.
import type { CarrierName, LearnedReport, Origination, ReachabilityReport } from '../model/advertisement.ts';

/** What a carrier reports to the learned table. Calls are synchronous and must not throw. */
export interface CarrierSink {
  learned(report: LearnedReport): void;
  reachability(report: ReachabilityReport): void;
}

export interface Carrier {
  readonly name: CarrierName;
  /** Opens sockets and timers. Rejects with the missing precondition named when the carrier cannot run at all. */
  start(): Promise<void>;
  /** Sets the whole of what this router advertises; the carrier works out the difference. */
  originate(origination: Origination): void;
  /**
   * Withdraws everything cleanly (purge, flush), waits until it is sent, closes. Idempotent.
   * @param next the section of the carrier that will take its place, if one will
   */
  stop(next?: unknown): Promise<void>;
}
