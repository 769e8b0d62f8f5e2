// What names a flow in this room's tables: text that is made for every notification, and so without the work of spelling addresses for people.
import type { IpAddress } from '../model/address.ts';

export interface FlowName {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly destinationQpn: number;
}

export const flowKey = ({ source, destination, destinationQpn }: FlowName): string =>
  `${source.family} ${source.value.toString(36)} ${destination.value.toString(36)} ${destinationQpn}`;
