// What the operator declared, validated: the typed form of cnpd.yaml. Everything is off until it is written down (PNC-6-e, PNC-6-f):
// an absent section is a feature that does not run. Sizes are bytes, times milliseconds, rates per second.
import type { CodePointValues } from '../model/code-points.ts';
import type { IpAddress } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';

export interface Intent {
  readonly router: RouterIntent;
  readonly isis?: IsisIntent;
  readonly proxy?: ProxyIntent;
  /** Egress ports to watch. Empty: this router is no congested node. */
  readonly ports: readonly PortIntent[];
  /** Interfaces at which notifications are dropped in both directions (PNC-6-c, PNC-6-d). */
  readonly borderPorts: readonly string[];
  readonly codePoints: CodePointValues;
  readonly gnmiSocket: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

export interface RouterIntent {
  readonly name: string;
  /** Source of the notices that this router sends; one a family at most. */
  readonly loopback4?: IpAddress;
  readonly loopback6?: IpAddress;
}

export type IsisLevels = '1' | '2' | '1-2';

/** HMAC-MD5 (RFC 5304). */
export interface IsisAuthentication {
  readonly key: string;
}

export interface IsisIntent {
  /** 6 bytes; cnpd is a system of its own beside FRR, so this differs from FRR's. */
  readonly systemId: Uint8Array;
  /** Area address, 1..13 bytes, the NET without system ID and selector. */
  readonly area: Uint8Array;
  readonly levels: IsisLevels;
  /** Name of the veth end in the router's namespace, on which FRR runs `ipv6 router isis`. cnpd creates and removes it. */
  readonly interface: string;
  readonly mtu: number;
  readonly helloIntervalMs: number;
  readonly holdMultiplier: number;
  readonly lifetimeSeconds: number;
  readonly refreshSeconds: number;
  /** `area`: LSPs and SNPs of level 1; `domain`: of level 2; `interface`: hellos. */
  readonly authentication: { readonly interface?: IsisAuthentication; readonly area?: IsisAuthentication; readonly domain?: IsisAuthentication };
  /** How long entries outlive the reachability of their originator. */
  readonly holdUnreachableMs: number;
}

/** What the senders behind the proxy understand (PNC-1-a). */
export type NotificationFormat = 'standard-cnp';

export interface SenderIntent {
  readonly prefix: Prefix;
  readonly format: NotificationFormat;
}

export interface ProxyIntent {
  /** A unicast address of this router. Notices arrive here. */
  readonly address: IpAddress;
  readonly senders: readonly SenderIntent[];
  /** Interfaces at which notices arrive and RoCEv2 traffic is observed. Empty: all Ethernet-like ones but the carriers' own. */
  readonly interfaces: readonly string[];
  /** Sources from which notices are accepted. Never empty: there is no "from anybody". */
  readonly acceptFrom: readonly Prefix[];
  /** Least time between two CNPs for one flow. */
  readonly perFlowIntervalMs: number;
  /** Notices accepted per second, all flows together. */
  readonly noticesPerSecond: number;
}

export interface PortIntent {
  readonly interface: string;
  /** CE marking of ECT packets above this queue depth, bytes (LHCNP-5.4-a). Off when absent. */
  readonly kMin?: number;
  /** Notification above this queue depth, bytes. Off when absent. */
  readonly kMax?: number;
  /** Least time between two notices for one flow. */
  readonly perFlowIntervalMs: number;
  /** Notices per second, all flows of the port together. */
  readonly noticesPerSecond: number;
}
