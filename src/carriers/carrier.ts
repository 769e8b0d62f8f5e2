// The interface of every carrier: it originates what this router advertises and reports what it learns, in any
// protocol.
import type { CarrierName, LearnedReport, Origination, ReachabilityReport } from '../model/advertisement.ts';
import type { TopologyReport } from '../model/topology.ts';

/** What a carrier reports to the learned table. Calls are synchronous and must not throw. */
export interface CarrierSink {
  learned(report: LearnedReport): void;
  reachability(report: ReachabilityReport): void;
  /** Only from link-state protocols, and only while their options ask for it. */
  topology(report: TopologyReport): void;
}

export interface Carrier {
  readonly name: CarrierName;
  /**
   * Opens sockets and timers. Rejects with an error that names the missing precondition when the carrier cannot run.
   */
  start(): Promise<void>;
  /** Sets everything that this router advertises; the carrier computes the difference. */
  originate(origination: Origination): void;
  /**
   * Withdraws everything cleanly (purge, flush), waits until that is sent, and closes. Idempotent.
   * @param next the section of the carrier that will replace this one, if there is one
   */
  stop(next?: unknown): Promise<void>;
}
