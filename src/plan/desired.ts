// The desired state of the kernel: what plan computes and reconcile makes true. Plain values, every policy already computed
// (programs only compare and act). One list an object kind; identity of an object is the field named `id`.
//
// senderProxies may hold a million entries, so it is walked only when somebody iterates over it: at start, after a reload, in the periodic full
// pass. In between, reconcile is fed by senderProxyChanges (congested-node.ts) from the learned table's difference, and plan() costs
// nothing that grows with the network.
import type { IpAddress } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';

export interface DesiredState {
  readonly ports: readonly EgressPortPlan[];
  /** Longest-match table of the congested node: sender prefix → where its notice goes. `proxy` null: explicitly none (D5). */
  readonly senderProxies: Iterable<SenderProxyPlan>;
  readonly notifier?: NotifierPlan;
  readonly proxy?: ProxyPlan;
  readonly guards: readonly GuardPlan[];
  /** What cannot be done as declared, and the remedy: shown by `cnpctl show status`. */
  readonly problems: readonly Problem[];
}

export interface Problem {
  /** `ports`, `proxy`, `border-ports`: the section of cnpd.yaml. */
  readonly feature: string;
  readonly problem: string;
  /** What the operator can do, as a command where there is one. */
  readonly remedy: string;
}

export interface EgressPortPlan {
  readonly id: string;
  readonly interface: string;
  readonly ifindex: number;
  /** Bytes; null: no CE marking. */
  readonly kMin: number | null;
  /** Bytes; null: no notification. */
  readonly kMax: number | null;
  /** Level n is reported from levelBytes[n] upwards; levelBytes[0] = kMax; ascending; 8 entries (PNC-4-f, decision D10). */
  readonly levelBytes: readonly number[];
  readonly perFlowIntervalNs: number;
  /** Token bucket of the port: notices per second and burst. */
  readonly noticesPerSecond: number;
  readonly burst: number;
}

export interface SenderProxyPlan {
  readonly id: string;
  readonly prefix: Prefix;
  readonly proxy: IpAddress | null;
}

/** How notices are built on a congested node. */
export interface NotifierPlan {
  readonly source4: IpAddress | null;
  readonly source6: IpAddress | null;
  readonly udpPort: number;
}

export interface ProxyPlan {
  readonly address: IpAddress;
  readonly udpPort: number;
  readonly senders: readonly { readonly id: string; readonly prefix: Prefix; readonly format: 'standard-cnp' }[];
  readonly acceptFrom: readonly { readonly id: string; readonly prefix: Prefix }[];
  readonly perFlowIntervalNs: number;
  readonly noticesPerSecond: number;
  readonly burst: number;
  /** Where the proxy program is attached at ingress. */
  readonly interfaces: readonly { readonly id: string; readonly interface: string; readonly ifindex: number }[];
}

export interface GuardPlan {
  readonly id: string;
  readonly interface: string;
  readonly ifindex: number;
  readonly udpPort: number;
}
