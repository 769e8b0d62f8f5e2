// What the northbound shows of notifications taken for hosts (state.ts has the rest).

/** Senders for which this router takes notifications. */
export interface SourceState {
  prefix: string;
  action: string;
  /** Notifications taken since the daemon's start, and the latest of them. */
  notifications: number;
  lastNotification: string | null;
  lastNode: string | null;
}

/** One notification that this router has taken for a sender; the newest first. */
export interface ReceivedNotificationState {
  /** Counts from 1 since the daemon's start. */
  sequence: number;
  at: string;
  port: string;
  node: string;
  format: string;
  sender: string;
  /** Null: no known connection (`pass`). */
  senderQpn: number | null;
  receiver: string | null;
  receiverQpn: number | null;
  level: number | null;
  action: string | null;
  parameter: number | null;
  /** `passed`, `converted`, `enforced`. */
  result: string;
}

/** A flow that this router slows down in place of its sender. */
export interface HoldState {
  sender: string;
  senderQpn: number;
  receiver: string;
  receiverQpn: number;
  /** `held`, `paused`, `recovering`, `leaving`. */
  state: string;
  /** bit/s; of `normalRate` this is what it may send now. */
  rate: number;
  normalRate: number;
  pausedUntil: string | null;
  /** Whose notifications hold it, the strictest first. */
  nodes: string[];
  since: string;
  /** When it is free at the latest, without further notifications. */
  until: string;
  /** The last notification that was obeyed. */
  format: string;
  action: string;
  parameter: number;
}
