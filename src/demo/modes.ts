// The three runs of the demo, and what differs between them. Everything else (network, sender, bottleneck, duration of the overload) is the same.

export type Mode = 'none' | 'receiver' | 'cnpd';

export interface ModeSpec {
  readonly mode: Mode;
  readonly title: string;
  /** What p1's cnpd is told of its WAN port; nothing: it does not watch it. */
  readonly port: { readonly kMin?: number; readonly kMax?: number } | undefined;
  /** h2's CNPs. Off in the cnpd run, so that every CNP on h1's wire is cnpd's. */
  readonly receiverCnps: boolean;
  readonly reaction: 'none' | 'dcqcn';
  /** Queue depth from which this run gives feedback, bytes. */
  readonly threshold: number | undefined;
  readonly durationMs: number;
}

const K_MIN = 50_000;
const K_MAX = 100_000;

export const MODES: readonly ModeSpec[] = [
  { mode: 'none', title: 'no congestion control', port: undefined, receiverCnps: false, reaction: 'none', threshold: undefined, durationMs: 8000 },
  { mode: 'receiver', title: 'CNPs from the receiver', port: { kMin: K_MIN }, receiverCnps: true, reaction: 'dcqcn', threshold: K_MIN, durationMs: 20_000 },
  { mode: 'cnpd', title: 'CNPs from cnpd (proxy)', port: { kMin: K_MIN, kMax: K_MAX }, receiverCnps: false, reaction: 'dcqcn', threshold: K_MAX, durationMs: 20_000 },
];

/** h1 sends at this rate, bit/s; the WAN drains WAN_RATE. */
export const SENDING_RATE = 100e6;
export const WAN_RATE = 40e6;
/** Limit of the TBF at p1's WAN port, bytes (containerlab/proxy/proxy.clab.yml). */
export const QUEUE_LIMIT = 2_000_000;
/** "Bounded": the peak of the cnpd run is at most this, a fifth of the limit and a fraction of what an unheeded overload makes of it. */
export const BOUNDED_QUEUE = QUEUE_LIMIT / 5;
