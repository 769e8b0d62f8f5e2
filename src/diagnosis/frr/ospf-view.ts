// The inputs of the preconditions of OSPF, and the type of a row.
import type { OspfInterfaceConfig, OspfVersionNumber } from '../../frr/ospf-config.ts';
import type { OspfFacts } from '../../frr/ospf-facts.ts';
import type { RunningConfig } from '../../frr/running-config.ts';
import type { IpAddress } from '../../model/address.ts';
import type { EndConExpectation } from './end-con.ts';
import type { Finding } from './finding.ts';

/**
 * cnpd.yaml's requirements of FRR; the sections `ospfv2` and `ospfv3` of the intent have this shape except `endCon`.
 */
export interface OspfExpectation {
  readonly version: OspfVersionNumber;
  /** 32 bits. */
  readonly routerId: number;
  readonly areas: readonly OspfAreaExpectation[];
  readonly helloSeconds: number;
  readonly deadSeconds: number;
  /** `srv6.end-con`: SIDs to which FRR must advertise a route; OSPFv3 only. */
  readonly endCon?: readonly EndConExpectation[];
  /** `srv6.end-mt` and `srv6.replication`, likewise. */
  readonly groupSids?: readonly EndConExpectation[];
}

export interface OspfAreaExpectation {
  readonly areaId: number;
  readonly interface: string;
  readonly mtu: number;
  readonly ignoreMtu: boolean;
  readonly instanceId: number;
  /** OSPFv2 only. */
  readonly link?: { readonly router: IpAddress; readonly length: number };
  readonly keys: readonly { readonly id: number; readonly algorithm: string; readonly key: string }[];
}

/** The inputs of a row; the daemon has answered and has an instance. */
export interface View {
  readonly want: OspfExpectation;
  readonly facts: OspfFacts;
  readonly config: RunningConfig;
  /** Lines of `router ospf` or `router ospf6`. */
  readonly instance: readonly string[];
}

export interface AreaView extends View {
  readonly area: OspfAreaExpectation;
  /** As in cnpd.yaml: `ospfv2.areas[0]`. */
  readonly where: string;
  readonly link: OspfInterfaceConfig;
}

export interface Row<V> {
  readonly id: string;
  /** Only for this version. */
  readonly version?: OspfVersionNumber;
  /** Only where this is expected. */
  readonly only?: (want: OspfExpectation) => boolean;
  readonly claim: (want: OspfExpectation) => string;
  readonly check: (view: V) => Finding | undefined;
}
