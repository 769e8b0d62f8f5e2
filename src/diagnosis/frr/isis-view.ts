// The inputs of the preconditions of IS-IS, and the type of a row.
import type { FrrFacts } from '../../frr/frr-facts.ts';
import type { IsisInstanceConfig, IsisInterfaceConfig } from '../../frr/running-config.ts';
import type { EndConExpectation } from './end-con.ts';
import type { Finding } from './finding.ts';

/** cnpd.yaml's requirements of FRR; the `isis` section of the intent has this shape except `endCon`. */
export interface FrrExpectation {
  readonly interface: string;
  readonly levels: '1' | '2' | '1-2';
  /** 6 bytes. */
  readonly systemId: Uint8Array;
  /** 1..13 bytes. */
  readonly area: Uint8Array;
  /** Of the interface. */
  readonly mtu: number;
  readonly authentication: { readonly interface?: Key; readonly area?: Key; readonly domain?: Key };
  /** `srv6.end-con`: SIDs to which FRR must advertise a route. */
  readonly endCon?: readonly EndConExpectation[];
  /** `srv6.end-mt` and `srv6.replication`, likewise. */
  readonly groupSids?: readonly EndConExpectation[];
}

interface Key {
  readonly key: string;
}

/** The inputs of a row; isisd has answered and one instance is chosen. */
export interface View {
  readonly want: FrrExpectation;
  readonly facts: FrrFacts;
  readonly instance: IsisInstanceConfig;
  readonly link: IsisInterfaceConfig;
}

export interface Row {
  readonly id: string;
  /** Only for routers that run this level. */
  readonly level?: 1 | 2;
  /** Only where this is expected. */
  readonly only?: (want: FrrExpectation) => boolean;
  readonly claim: string;
  readonly check: (view: View) => Finding | undefined;
}
