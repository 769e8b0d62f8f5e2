// Tables of the congested node in the kernel: the key and the value of each entry of the desired state.
import { encodeEgressPort, encodeSenderProxy } from '../kernel/dataplane/egress.ts';
import { mappedAddress, prefixKey, u32Key } from '../kernel/dataplane/layout.ts';
import {
  OWN_ADDRESS,
  encodeEndCon,
  encodeSenderCapability,
  encodeSenderPolicy,
} from '../kernel/dataplane/sender-policies.ts';
import type {
  EgressPortPlan,
  EndConSidPlan,
  OwnAddressPlan,
  ReplicationEndConPlan,
  SenderCapabilityPlan,
  SenderPolicyPlan,
  SenderProxyPlan,
} from '../plan/desired.ts';
import type { TableCodec } from './map-table.ts';

export const PORTS: TableCodec<EgressPortPlan> = {
  kind: 'egress-port',
  key: (p) => u32Key(p.ifindex),
  value: encodeEgressPort,
};
export const SENDER_POLICIES: TableCodec<SenderPolicyPlan> = {
  kind: 'sender-policy',
  key: (p) => prefixKey(p.prefix),
  value: encodeSenderPolicy,
};
export const SENDER_CAPABILITIES: TableCodec<SenderCapabilityPlan> = {
  kind: 'sender-capability',
  key: (c) => mappedAddress(c.host),
  value: encodeSenderCapability,
};
export const OWN_ADDRESSES: TableCodec<OwnAddressPlan> = {
  kind: 'own-address',
  key: (a) => mappedAddress(a.address),
  value: () => OWN_ADDRESS,
};
export const END_CON_SIDS: TableCodec<EndConSidPlan> = {
  kind: 'end-con-sid',
  key: (s) => mappedAddress(s.sid),
  value: (s) => encodeEndCon(s.tenant),
};
export const REPLICATION_END_CONS: TableCodec<ReplicationEndConPlan> = {
  kind: 'replication-end-con',
  key: ({ replicationSid }) => mappedAddress(replicationSid),
  value: ({ endConSid }) => mappedAddress(endConSid),
};
export const SENDER_PROXIES = {
  kind: 'sender-proxy',
  fixed: true,
  key: (s: SenderProxyPlan) => prefixKey(s.prefix),
} as const satisfies Omit<TableCodec<SenderProxyPlan>, 'value'>;

/** Encodes the value of a sender. Consecutive senders mostly have the same one, so the last encoding is reused. */
export function senderValues(): (sender: SenderProxyPlan) => Uint8Array {
  let last: { readonly of: SenderProxyPlan; readonly bytes: Uint8Array } | undefined;
  return (sender) => {
    const { prefix, proxy, supports } = sender;
    if (
      !last ||
      last.of.proxy !== proxy ||
      last.of.supports !== supports ||
      last.of.prefix.address.family !== prefix.address.family
    )
      last = { of: sender, bytes: encodeSenderProxy(sender) };
    return last.bytes;
  };
}

export function sameSender(a: SenderProxyPlan, b: SenderProxyPlan): boolean {
  return (
    a.id === b.id &&
    a.supports === b.supports &&
    a.proxy?.value === b.proxy?.value &&
    a.proxy?.family === b.proxy?.family
  );
}

export const sameSid = (a: EndConSidPlan, b: EndConSidPlan): boolean => a.id === b.id && a.tenant === b.tenant;
