// Recordings of pure machines: what a machine is handed while its events are recorded. While nothing is recorded it is
// handed nothing, so the price of that is one branch an event.
//
// What a machine computes with a key, or asks a function that it was given, is an input that no event has. It is a
// finding: recorded behind the event in which it was made, and played back in the same order. So a recording needs no
// key.

export interface Findings {
  /**
   * The result of `make` or, in a replay, what was recorded in its place.
   * @param shown what is recorded instead of a result that has secrets
   */
  find<T>(make: () => T, shown?: (result: T) => T): T;
}

/** One machine's part of a recording. */
export interface Tape extends Findings {
  /** Call before the machine handles the event, with the time that it is given. */
  event(now: number, event: unknown): void;
}

/** What is recorded; each is one machine, from its creation on. */
export const MACHINES = [
  'isis',
  'ospfv2',
  'ospfv2-content',
  'ospfv3',
  'ospfv3-content',
  'bgp',
  'holds',
  'received',
  'flow-control-asked',
  'flow-control-paused',
] as const;
export type MachineName = (typeof MACHINES)[number];

export interface Recorder {
  /** Undefined: nothing is recorded. @param config all that the machine is created from, without keys */
  begin(machine: MachineName, now: number, config: unknown): Tape | undefined;
  /** The carrier was stopped; what was learned from it is held for `holdMs`. */
  carrierStopped(now: number, carrier: string, holdMs: number): void;
}

/** Without a recorder, and in a machine that is not recorded, simply `make()`. */
export const found = <T>(findings: Findings | undefined, make: () => T, shown?: (result: T) => T): T =>
  findings ? findings.find(make, shown) : make();

/** Keys by number: a change of a key is seen, the key is not. */
export class KeyNumbers {
  readonly #known = new Map<string, number>();

  /** In place of a key: its number, as one byte. More than 255 keys share the last number. */
  of(key: Uint8Array): Uint8Array {
    const text = Buffer.from(key).toString('latin1');
    let number = this.#known.get(text);
    if (number === undefined) this.#known.set(text, (number = Math.min(255, this.#known.size + 1)));
    return Uint8Array.of(number);
  }
}

export const RECORDING_LIMITS = {
  bytes: { least: 1 << 16, most: 1 << 30, default: 64 << 20 },
  seconds: { least: 1, most: 7 * 86_400, default: 3600 },
} as const;

export interface RecordingRequest {
  readonly limitBytes: number;
  readonly limitSeconds: number;
}

/** `limit`: the recording is whole up to a limit; `failed`: up to an error. Both end it. */
export type RecordingState = 'off' | 'recording' | 'limit' | 'failed';

export interface RecordingStatus {
  readonly state: RecordingState;
  /** The latest recording; absent: there was none. */
  readonly file?: string;
  readonly startedAt?: string;
  readonly limitBytes?: number;
  readonly limitSeconds?: number;
  readonly events: number;
  readonly bytes: number;
  /** Events that came after the end of the recording, while it was not stopped. */
  readonly dropped: number;
  /** Why it has ended. */
  readonly reason?: string;
  /** Machines in the recording. */
  readonly machines: readonly string[];
}

/** What an operator may ask of the recorder. @throws Error with a reason */
export interface Recording {
  /** @param restart machines that run begin anew, so that they are recorded too */
  start(request: RecordingRequest, restart: boolean): Promise<RecordingStatus>;
  stop(): Promise<RecordingStatus>;
  status(): RecordingStatus;
}
