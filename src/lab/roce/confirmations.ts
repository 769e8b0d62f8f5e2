// How many packets of a transfer were confirmed at what time: what a receiver has sent, and what a source has heard.
// Both use CLOCK_MONOTONIC, so that the lists of one machine can be compared: a source that knows more than a receiver
// has confirmed was lied to (RMC §5.3.1). Pure.

/** Entries kept; a transfer of 64 Ki messages. */
const MOST = 65_536;

export class Confirmations {
  /** [ms, packets from the first one on], both growing. */
  readonly list: (readonly [t: number, packets: number])[] = [];

  /** Keeps what is more than before. */
  note(packets: number, now: number): void {
    if (packets > (this.list.at(-1)?.[1] ?? 0) && this.list.length < MOST) this.list.push([now, packets]);
  }
}
