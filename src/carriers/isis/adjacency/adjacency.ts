// The only adjacency of the circuit: three-way handshake (RFC 5303 §3.2), its levels, and its transitions. interface.ts
// has the hellos, changes.ts the actions of a level that comes up or goes down. A neighbor without TLV 240 is refused:
// FRR always sends it, and a two-way adjacency would be Up on one side only.
import type { ThreeWayState } from '../../../packet/isis/tlv/types.ts';
import type { Level } from '../../../packet/isis/types.ts';

export interface Adjacency {
  readonly systemId: Uint8Array;
  /** `0000.0000.0001`. */
  readonly system: string;
  /** The neighbor's extended local circuit ID. */
  readonly circuitId: number | undefined;
  readonly state: ThreeWayState;
  /** Levels in common; level 1 only within one area. */
  readonly levels: readonly Level[];
  /** The neighbor runs the IPv6 topology (TLV 229 with MT ID 2). */
  readonly mtIpv6: boolean;
  readonly holdUntil: number;
  readonly since: number;
  /** Why the adjacency is in this state. */
  readonly reason: string;
}

/** RFC 5303 §3.2 c: our next state, by our state and the one that the neighbor reports (`received`). */
const THREE_WAY: Record<ThreeWayState, Record<ThreeWayState, { next: ThreeWayState; reason: string }>> = {
  down: {
    down: { next: 'initializing', reason: 'hello received' },
    initializing: { next: 'up', reason: 'neighbor hears us' },
    up: { next: 'down', reason: 'neighbor still has an older adjacency' },
  },
  initializing: {
    down: { next: 'initializing', reason: 'neighbor does not hear us yet' },
    initializing: { next: 'up', reason: 'neighbor hears us' },
    up: { next: 'up', reason: 'neighbor hears us' },
  },
  up: {
    // It has restarted, or its circuit was switched off, or it lost our hellos: it does not say which.
    down: { next: 'initializing', reason: 'neighbor does not hear us any more' },
    initializing: { next: 'up', reason: 'neighbor hears us' },
    up: { next: 'up', reason: 'neighbor hears us' },
  },
};

/** The next state and the reason for it. */
export const threeWay = (local: ThreeWayState, received: ThreeWayState): { next: ThreeWayState; reason: string } =>
  THREE_WAY[local][received];

interface Adjacent {
  readonly adjacency: Adjacency | undefined;
}

export const isActive = (s: Adjacent, level: Level): boolean => activeLevels(s).includes(level);

export const activeLevels = (s: Adjacent): readonly Level[] => (s.adjacency?.state === 'up' ? s.adjacency.levels : []);
