// The Long-haul CNP with the action Resume (LHCNP §5.5.1, §6), in the same form and on the same path as the instruction
// before it. The agent builds it; the program `notice` builds the other Long-haul CNPs, with the same fields. A flow in
// a tunnel is notified through the tunnel's END.CON (FCN-4.2.2-d), an IPv4 flow in the RoCEv2 form (LHCNP-4-a).
import type { IpAddress } from '../model/address.ts';
import { buildLongHaulIcmpv6 } from '../packet/icmpv6/long-haul-cnp.ts';
import { UNDISCLOSED, type LongHaulCnp, queueDepthMetric } from '../packet/long-haul/body.ts';
import type { LongHaulObject } from '../packet/long-haul/objects.ts';
import { put32 } from '../packet/bytes.ts';
import { DEFAULT_PKEY } from '../packet/roce/bth.ts';
import { buildLongHaulRoce } from '../packet/roce/long-haul-cnp.ts';
import { wrapForEndCon } from '../packet/srv6/end-con.ts';
import type { ResumeOrder, NotifiedFlow } from './resume.ts';

/** How notifications are built; the plan's notifier has all of it. */
export interface LongHaulSettings {
  readonly source4: IpAddress | null;
  readonly source6: IpAddress | null;
  readonly longHaul?: {
    readonly icmpv6Type: number;
    readonly objectClass: number;
    readonly disclose: boolean;
    readonly timestamp: boolean;
    readonly deviceId: string | null;
    /** 32 bits. */
    readonly pathId: number | null;
    readonly padToCnp: boolean;
  };
}

export interface ResumeInstruction {
  readonly level: number;
  /** Percent of the reduction to revert; 0: all of it. */
  readonly parameter: number;
}

/** A flow that was notified by a version that did not keep them (flows.ts). No data packet has P_Key 0. */
const UNKNOWN = { sourcePort: 0xc000, pkey: DEFAULT_PKEY } as const;

/**
 * LHCNP-6.2.3-g; decision D11: the P_Key and the UDP source port of the flow, as in the instruction before it, so that
 * it takes the same path.
 */
const transportOf = ({ sourcePort, pkey }: NotifiedFlow): { readonly sourcePort: number; readonly pkey: number } =>
  pkey === 0 ? UNKNOWN : { sourcePort, pkey };

/**
 * A whole IP packet, to be sent from the loopback of its family. Undefined: this node is not set up for it any more.
 * @param ntp the time, 64-bit NTP timestamp format
 * @throws EncodeError
 */
export function buildResume(
  { flow, queueBytes }: ResumeOrder,
  instruction: ResumeInstruction,
  settings: LongHaulSettings,
  ntp: bigint,
): Uint8Array | undefined {
  const { longHaul, source6 } = settings;
  const source = flow.source.family === 6 ? source6 : settings.source4;
  if (!longHaul || !source || (flow.endCon && !source6)) return undefined;
  const cnp: LongHaulCnp = {
    ...instruction,
    action: 'resume',
    sourceQpn: flow.sourceQpn,
    metric: longHaul.disclose ? queueDepthMetric(queueBytes) : UNDISCLOSED,
    objects: objects(longHaul, ntp),
  };
  const ends = { source, destination: flow.source, cnp };
  const { icmpv6Type, objectClass, padToCnp } = longHaul;
  const notification =
    flow.format === 'long-haul-icmpv6'
      ? buildLongHaulIcmpv6({ ...ends, codes: { type: icmpv6Type, objectClass } })
      : buildLongHaulRoce({ ...ends, ...transportOf(flow), objectClass, padToCnp });
  return flow.endCon ? wrapForEndCon({ source: source6!, endCon: flow.endCon, notification }) : notification;
}

function objects(
  { timestamp, deviceId, pathId }: NonNullable<LongHaulSettings['longHaul']>,
  ntp: bigint,
): LongHaulObject[] {
  const id = new Uint8Array(4);
  if (pathId !== null) put32(id, 0, pathId);
  return [
    ...(timestamp ? [{ kind: 'timestamp', ntp } as const] : []),
    ...(deviceId === null ? [] : [{ kind: 'device-id', name: deviceId } as const]),
    ...(pathId === null ? [] : [{ kind: 'path-id', id } as const]),
  ];
}
