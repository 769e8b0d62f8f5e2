// The key of a flow in this component's tables: text that is made for every notification, and so without the cost of
// formatting addresses for people.
import type { IpAddress } from '../model/address.ts';

interface FlowName {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly destinationQpn: number;
}

/**
 * A flow that was notified: the same addresses and Queue Pairs in another tenant's tunnel, or of datagrams, are another
 * flow (bpf/lib/detector/flows.h).
 */
export const toldFlowKey = (
  flow: FlowName & { readonly endCon: IpAddress | null; readonly datagram: boolean; readonly sourceQpn: number },
): string => `${flowKey(flow)} ${flow.endCon?.value.toString(36) ?? ''} ${flow.datagram ? flow.sourceQpn : ''}`;

export const flowKey = ({ source, destination, destinationQpn }: FlowName): string =>
  `${source.family} ${source.value.toString(36)} ${destination.value.toString(36)} ${destinationQpn}`;
