// The key of a flow in this component's tables. It is built for every notification, so it avoids the cost of formatting
// addresses for people.
import { type IpAddress, familyKey, mapKey } from '../model/address.ts';

interface FlowName {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly destinationQpn: number;
}

/**
 * A flow that was notified: the same addresses and Queue Pairs in another tenant's tunnel, or of datagrams, are another
 * flow (bpf/lib/detector/flows.h).
 */
export const notifiedFlowKey = (
  flow: FlowName & { readonly endCon: IpAddress | null; readonly datagram: boolean; readonly sourceQpn: number },
): string => `${flowKey(flow)} ${flow.endCon ? mapKey(flow.endCon) : ''} ${flow.datagram ? flow.sourceQpn : ''}`;

export const flowKey = ({ source, destination, destinationQpn }: FlowName): string =>
  `${familyKey(source)} ${mapKey(destination)} ${destinationQpn}`;
