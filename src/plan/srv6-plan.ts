// What the kernel is to have of SRv6: END.CON routes, decapsulation, and the outer sources of tunnels. A part of the
// desired state (desired.ts).
import type { Family, IpAddress } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';

/** Endpoint behaviors that decapsulate, whoever configured them; `end-con` is cnpd's. */
export type DecapsulationBehavior = 'end-con' | 'end.dt6' | 'end.dt4' | 'end.dt46' | 'end.dx6' | 'end.dx4';

export interface DecapsulationSidPlan {
  readonly id: string;
  readonly sid: IpAddress;
  readonly behavior: DecapsulationBehavior;
  /** Families of the inner packets. */
  readonly families: readonly Family[];
  /**
   * Table for the lookup after decapsulation. 0: the usual rules and tables; null: decapsulation is left to the kernel.
   */
  readonly table: number | null;
}

/** Which outer source a tunnel gets: by ingress interface (0: any) and inner source prefix; longest match. */
export interface TunnelSourcePlan {
  readonly id: string;
  readonly ingressIfindex: number;
  readonly sender: Prefix;
  readonly sid: IpAddress;
}

export interface Srv6Plan {
  /**
   * cnpd's own SIDs, desired as seg6local routes with cnpd's protocol number. `installed`: whether the kernel had the
   * SID when the facts were read. The kernel drops the route silently when its interface goes down.
   */
  readonly endCon: readonly {
    readonly id: string;
    readonly sid: IpAddress;
    readonly table: number;
    readonly installed: boolean;
  }[];
  /** All local SIDs that decapsulate: RFC 6040 at tunnel egress. */
  readonly decapsulation: readonly DecapsulationSidPlan[];
  readonly tunnelSources: readonly TunnelSourcePlan[];
  /** The outer source of tunnels without a row. Null: the source is left unchanged. */
  readonly defaultSource: IpAddress | null;
  /** Outer sources of this router's tunnels, to be replaced by a SID. The SIDs themselves are included. */
  readonly localSources: readonly { readonly id: string; readonly address: IpAddress }[];
  readonly corePorts: readonly { readonly id: string; readonly interface: string; readonly ifindex: number }[];
  /** The interface of cnpd's seg6local routes: a core port, preferably one that is up. */
  readonly routeIfindex: number;
  readonly ecnMode: 'normal' | 'compatibility';
  readonly dscp: { readonly kind: 'pipe'; readonly outerDscp: number | null } | { readonly kind: 'uniform' };
  /** Other programs inspect packets that arrive at core ports, so no packet may bypass them. */
  readonly sharedIngress: boolean;
}
