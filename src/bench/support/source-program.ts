// The source's program for figures: it acts for one sender, whose connections it knows, and believes one node.
import type { BpfObject } from '../../kernel/bpf/object.ts';
import { prefixKey, structure } from '../../kernel/dataplane/layout.ts';
import {
  DEFAULT_LEARNING_LIMITS,
  PROXY_CONFIG_KEY,
  PROXY_MAPS,
  encodeLearningConfig,
} from '../../kernel/dataplane/proxy.ts';
import { encodeFlowKey, encodePeer, encodeStaticQueuePair, ownerKey } from '../../kernel/dataplane/queue-pairs.ts';
import {
  SOURCE_KEY,
  SOURCE_MAPS,
  encodeSourceConfig,
  encodeSourceNode,
  encodeSourceSender,
} from '../../kernel/dataplane/source.ts';
import { address } from '../../model/address.ts';
import type { LongHaulInstruction } from '../../model/notification.ts';
import { hostPrefix } from '../../model/prefix.ts';
import { UNDISCLOSED } from '../../packet/long-haul/body.ts';
import { buildLongHaulRoce } from '../../packet/roce/long-haul-cnp.ts';
import { RECEIVER, SENDER, ethernet } from './packets/packets.ts';

/** Connections, counted from 1: Queue Pair 0x1000 + n of the sender, 0x2000 + n of the receiver. */
export const FLOWS = 1000;
const NODE = address('2001:db8:ffff::2');
/** The tag of this router's own notifications, which alone are believed on the loopback interface. */
export const BUILT_HERE = structure(192, (view) => view.setUint32(48, 0x9c6e7d31, true));

export function configureSource(object: BpfObject): void {
  object.map(SOURCE_MAPS.config).update(
    SOURCE_KEY,
    encodeSourceConfig({
      ...{ fastCnpOption: 0x9e, fastCnpIoamOption: 0x9e, icrc: 'cover', longHaulIcmpv6Type: 200 },
      ...{ perFlowIntervalNs: 0, perSecond: 10_000_000, burst: 1_000_000 },
    }),
  );
  const sender = hostPrefix(SENDER);
  object.map(SOURCE_MAPS.senders).update(prefixKey(sender), encodeSourceSender({ prefix: sender, action: 'enforce' }));
  object.map(SOURCE_MAPS.nodes).update(prefixKey(hostPrefix(NODE)), encodeSourceNode(hostPrefix(NODE)));
  object.map(PROXY_MAPS.config).update(PROXY_CONFIG_KEY, encodeLearningConfig(DEFAULT_LEARNING_LIMITS));
  for (let n = 1; n <= FLOWS; n++) {
    const pair = { sender: SENDER, receiver: RECEIVER, senderQpn: 0x1000 + n, receiverQpn: 0x2000 + n };
    object
      .map(PROXY_MAPS.staticQueuePairs)
      .update(encodeFlowKey(pair), encodeStaticQueuePair({ senderQpn: pair.senderQpn, now: process.hrtime.bigint() }));
    object.map(PROXY_MAPS.connectedQueuePairs).update(ownerKey({ ...pair, tenant: 0 }), encodePeer(pair));
  }
}

/** A Long-haul CNP of the node about a flow. */
export const instruction = (n: number, what: Omit<LongHaulInstruction, 'level'>): Uint8Array =>
  ethernet(
    buildLongHaulRoce({
      ...{ source: NODE, destination: SENDER, sourcePort: 0xc000, objectClass: 247 },
      cnp: { level: 180, ...what, sourceQpn: 0x1000 + n, metric: UNDISCLOSED, objects: [] },
    }),
  );
