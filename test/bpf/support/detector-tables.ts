// How the detector's program is configured: how notifications are built, and who may be notified how.
import type { BpfMap } from '../../../src/kernel/bpf/map.ts';
import type { BpfObject } from '../../../src/kernel/bpf/object.ts';
import {
  DEFAULT_FLOW_AGEING_NS,
  EGRESS_MAPS,
  type EgressConfig,
  encodeEgressConfig,
  encodeSenderProxy,
} from '../../../src/kernel/dataplane/egress.ts';
import { mappedAddress, prefixKey, u32Key } from '../../../src/kernel/dataplane/layout.ts';
import { PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import { type FlowName, encodeFlowKey, encodeStaticQueuePair } from '../../../src/kernel/dataplane/queue-pairs.ts';
import {
  OWN_ADDRESS,
  encodeEndCon,
  encodeSenderCapability,
  encodeSenderPolicy,
} from '../../../src/kernel/dataplane/sender-policies.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import type { NotificationFormat } from '../../../src/model/notification.ts';
import type { Understood } from '../../../src/model/understood.ts';
import { type Prefix, prefix } from '../../../src/model/prefix.ts';

export const LOOPBACK4 = address('192.0.2.9');
export const LOOPBACK6 = address('2001:db8:ffff::9');
export const PNC_PORT = 1021;

type Marks = { readonly markCeWithFastCnp: boolean; readonly onlyAdvertised?: boolean };

export class DetectorTables {
  readonly egress: BpfObject;

  constructor(egress: BpfObject) {
    this.egress = egress;
  }

  configure(config: Partial<EgressConfig>): void {
    this.egress.map(EGRESS_MAPS.config).update(
      u32Key(0),
      encodeEgressConfig({
        source4: LOOPBACK4,
        source6: LOOPBACK6,
        udpPort: PNC_PORT,
        flowAgeingNs: DEFAULT_FLOW_AGEING_NS,
        flowSeed: 0x5eedn,
        ...config,
      }),
    );
  }

  /** Sender prefixes, their proxies, and what they are advertised to understand. */
  senders(...rows: (readonly [string, IpAddress | null, Understood?])[]): void {
    const map = this.empty(EGRESS_MAPS.senderProxies);
    for (const [sender, proxy, supports] of rows) {
      const p: Prefix = prefix(sender);
      map.update(prefixKey(p), encodeSenderProxy({ prefix: p, proxy, supports }));
    }
  }

  /** The formats of sender prefixes, tried in the order given; others are not notified. */
  policies(...rows: (readonly [string, readonly NotificationFormat[], Marks?])[]): void {
    const map = this.empty(EGRESS_MAPS.senderPolicies);
    for (const [sender, order, marks = { markCeWithFastCnp: false }] of rows) {
      const p = prefix(sender);
      map.update(prefixKey(p), encodeSenderPolicy({ prefix: p, order, ...marks }));
    }
  }

  /** Hosts that have shown not to understand formats. */
  lacking(...rows: (readonly [IpAddress, readonly NotificationFormat[]])[]): void {
    const map = this.empty(EGRESS_MAPS.senderCapabilities);
    for (const [host, lacks] of rows) map.update(mappedAddress(host), encodeSenderCapability({ host, lacks }));
  }

  /** The END.CON SIDs of the domain, and whose senders are behind them. */
  endCon(...sids: readonly (IpAddress | readonly [IpAddress, number])[]): void {
    const map = this.empty(EGRESS_MAPS.endConSids);
    for (const row of sids) {
      const [sid, tenant] = 'family' in row ? [row, 0] : row;
      map.update(mappedAddress(sid), encodeEndCon(tenant));
    }
  }

  /** Replication SIDs with the END.CON SIDs of their routers. */
  replicationEndCons(...pairs: readonly (readonly [IpAddress, IpAddress])[]): void {
    const map = this.empty(EGRESS_MAPS.replicationEndCons);
    for (const [replication, endCon] of pairs) map.update(mappedAddress(replication), mappedAddress(endCon));
  }

  /** The router's own addresses, as the agent writes them. */
  own(...addresses: readonly IpAddress[]): void {
    const map = this.empty(EGRESS_MAPS.ownAddresses);
    for (const own of addresses) map.update(mappedAddress(own), OWN_ADDRESS);
  }

  /** Queue Pairs of senders that are known, as an operator declares them. */
  queuePairs(...rows: (readonly [FlowName, number])[]): void {
    const map = this.empty(PROXY_MAPS.staticQueuePairs);
    for (const [flow, senderQpn] of rows)
      map.update(encodeFlowKey(flow), encodeStaticQueuePair({ senderQpn, now: process.hrtime.bigint() }));
  }

  private empty(name: string): BpfMap {
    const map = this.egress.map(name);
    for (const key of [...map.keys()]) map.delete(key);
    return map;
  }
}
