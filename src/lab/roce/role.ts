// What the endpoint's process and the roles that it can play owe each other.
import type { IpAddress } from '../../model/address.ts';
import type { RocePacket } from '../../packet/roce/packet.ts';
import type { Report } from './report.ts';

export interface Role {
  /** Its addresses besides that of the command line. */
  readonly also?: readonly IpAddress[];
  onPacket(packet: RocePacket): void;
  onNotification?(format: 'fast-cnp' | 'long-haul-icmpv6', packet: Uint8Array): void;
  /** On SIGUSR2: ends in order, with what is under way. */
  finish?(): void;
  /** On the first SIGINT or SIGTERM. */
  stop(): void;
}

export interface RoleParts {
  /** CLOCK_MONOTONIC in ms. */
  readonly now: () => number;
  /** @returns false when the packet was dropped */
  readonly send: (packet: Uint8Array) => boolean;
  readonly report: Report;
  /** Ends the process, once. */
  readonly end: (ok: boolean) => void;
}
