// The scene `arn`: two services between two data centers over one WAN. The port to the receiver of one of them is too
// narrow for it. Three runs: nothing is paused, the whole priority is, the service is.
import { type Host, type Port, topologyFile } from '../scene.ts';

export type ServiceName = 'A' | 'B';

/** What crosses the WAN in one tunnel. */
export interface Service {
  readonly sender: Host;
  readonly receiver: Host;
  /** bit/s of IP packets. */
  readonly sendingRateBps: number;
  /** END.DT6 at the far provider edge: destination of the tunnel's packets. */
  readonly sid: string;
}

const host = (node: string, address: string): Host => ({ node, interface: 'eth1', address });

export const SERVICES: Readonly<Record<ServiceName, Service>> = {
  A: {
    sender: host('h1', '2001:db8:1::2'),
    receiver: host('h2', '2001:db8:2::2'),
    sendingRateBps: 20e6,
    sid: '2001:db8:c2::a',
  },
  B: {
    sender: host('h3', '2001:db8:3::2'),
    receiver: host('h4', '2001:db8:4::2'),
    sendingRateBps: 8e6,
    sid: '2001:db8:c2::b',
  },
};

export const PAYLOAD_BYTES = 1024;
/** Ethernet, IPv6, UDP, BTH and ICRC around it. */
export const FRAME_BYTES = PAYLOAD_BYTES + 14 + 40 + 8 + 12 + 4;

/** As in the topology. */
export const NARROW_BPS = 10e6;
/** Payload that the narrow port passes. */
export const PASSES_BPS = (NARROW_BPS * PAYLOAD_BYTES) / FRAME_BYTES;

const port = (node: string, name: string): Port => ({ node, interface: name });

/** From the congested port towards the senders: where packets wait. */
export const PORTS: readonly Port[] = [port('pe2', 'eth1'), port('p', 'eth2'), port('pe1', 'eth2')];

/** A wire on which ARNs are looked for, at the end where they would arrive. */
export interface Wire {
  readonly name: string;
  readonly at: Port;
  /** The two routers between which an ARN is expected; absent: there must be none. */
  readonly asked?: { readonly from: string; readonly to: string };
}

export const WIRES: readonly Wire[] = [
  { name: 'pe2 – p', at: port('p', 'eth2'), asked: { from: 'pe2', to: 'p' } },
  { name: 'p – pe1', at: port('pe1', 'eth2'), asked: { from: 'p', to: 'pe1' } },
  ...['h1', 'h2', 'h3', 'h4'].map((node) => ({ name: node, at: port(node, 'eth1') })),
];

/** From the congested one to the senders. */
export const ROUTERS: readonly string[] = ['pe2', 'p', 'pe1'];
/** Of them, those that hold traffic, and the port where. */
export const HOLD_PORTS: readonly Port[] = [port('p', 'eth2'), port('pe1', 'eth2')];

export type RunName = 'none' | 'priority' | 'service';

export interface ArnRun {
  readonly name: RunName;
  readonly title: string;
  /** B sends alone for so long, then together with A. */
  readonly aloneMs: number;
  readonly togetherMs: number;
}

const DURATIONS = { aloneMs: 2000, togetherMs: 5000 } as const;

export const RUNS: readonly ArnRun[] = [
  { name: 'none', title: 'no flow control', ...DURATIONS },
  { name: 'priority', title: 'the priority is paused, as PFC does', ...DURATIONS },
  { name: 'service', title: 'the service is paused', ...DURATIONS },
];

export const ARN = {
  name: 'arn',
  title: 'precise flow control: one service is paused, the other goes on',
  path: 'h1 (A), h3 (B) – pe1 – p – pe2 ═ 10 Mbit/s ═ h2 (A); pe2 – h4 (B)',
  file: topologyFile('precise-flow-control'),
} as const;

/** What IS-IS must have brought before there is a path: the locators of the SIDs, and the ends of the tunnels. */
export const ROUTES: readonly (readonly [node: string, to: string])[] = [
  ['pe1', '2001:db8:c2::/48'],
  ['pe2', '2001:db8:c1::/48'],
  ['p', '2001:db8:c1::/48'],
  ['p', '2001:db8:c2::/48'],
  ['p', '2001:db8:ffff::1'],
  ['pe2', '2001:db8:ffff::1'],
];
