// Our place in the topology: our Router-LSA, and the LSAs that belong to it.
import { lsaKeyText } from '../../../packet/ospf/router-id.ts';
import { ISSUE_DELAY_MS } from '../constants.ts';
import type { AreaState, Speaker } from '../state.ts';
import { markDirty, ownKey } from './state.ts';

/**
 * The link came up, or the adjacency changed. Our place in the topology is issued only when the neighbor is Full.
 * Before that no router receives it, and MinLSInterval would delay the instance that matters. The instance without a
 * lost neighbor could be received only by that neighbor.
 */
export function topologyChanged(s: Speaker, area: AreaState): void {
  const { own, link, neighbor, config } = area;
  if (s.stopping || !link) return;
  const { version, routerId } = s.config;
  const full = neighbor?.state === 'full' ? neighbor : undefined;
  const lsas = version.topology({ routerId, address: link.address, interfaceId: config.interfaceId, neighbor: full });
  own.topology = new Map(lsas.map((lsa) => [lsaKeyText(ownKey(s, lsa)), lsa]));
  if (full) for (const key of own.topology.keys()) markDirty(own, key, s.now + ISSUE_DELAY_MS);
}
