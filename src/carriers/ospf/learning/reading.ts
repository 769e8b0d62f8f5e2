// Reads the LSAs of other routers, keeps what was read by key and by router, and notifies the subscribers of changes.
import { warnLimited } from '../../effects.ts';
import { decodeBody } from '../../../packet/ospf/lsa.ts';
import { formatLsaKey, lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { LsaKey } from '../../../packet/ospf/types.ts';
import type { AreaContent, Content, ReadLsa } from '../content-state.ts';
import { TOPOLOGY_V2 } from '../v2/topology.ts';
import { TOPOLOGY_V3 } from '../v3/topology.ts';
import { NO_TOPOLOGY, readTopology } from './topology.ts';

/** An LSA of another router is new, changed, or (without `lsa`) gone. */
export function databaseChanged(
  c: Content,
  area: AreaContent,
  key: LsaKey,
  lsa: { readonly raw: Uint8Array } | undefined,
): void {
  const id = lsaKeyText(key);
  const before = area.lsas.get(id);
  const after = lsa && read(c, area, id, key, lsa.raw);
  if (!before && !after) return;
  if (after) file(area, after);
  else remove(area, before!);
  for (const hear of c.subscribers.lsaChanged) hear(c, area, before, after);
}

function file({ lsas, routers }: AreaContent, lsa: ReadLsa): void {
  const { id, key } = lsa;
  lsas.set(id, lsa);
  const ofRouter = routers.get(key.advertisingRouter);
  if (ofRouter) ofRouter.set(id, lsa);
  else routers.set(key.advertisingRouter, new Map([[id, lsa]]));
}

function remove({ lsas, routers, names, addresses }: AreaContent, { id, key: { advertisingRouter } }: ReadLsa): void {
  lsas.delete(id);
  const ofRouter = routers.get(advertisingRouter)!;
  ofRouter.delete(id);
  if (ofRouter.size > 0) return;
  routers.delete(advertisingRouter);
  names.delete(advertisingRouter);
  addresses.delete(advertisingRouter);
}

const READERS = { 2: TOPOLOGY_V2, 3: TOPOLOGY_V3 } as const;

/** Reads an LSA; undefined: nothing of interest. */
function read(
  c: Content,
  area: AreaContent,
  id: string,
  { type, lsId, advertisingRouter }: LsaKey,
  raw: Uint8Array,
): ReadLsa | undefined {
  const { version, privateTypes } = c.config;
  const key = { type, lsId, advertisingRouter };
  const warn = (what: string, detail?: string): void =>
    warnLimited(
      c,
      `learn.${what}`,
      { area: area.name, lsa: formatLsaKey(key), ...(detail !== undefined && { detail }) },
      'LSA, or a part of it, ignored',
    );
  const lsa = { type, lsId, advertisingRouter, raw };
  const walked = c.kinds.walk(lsa, c.config, warn);
  if (walked?.bad === 0) return { id, key, content: { topology: NO_TOPOLOGY, entries: walked.entries } };
  const decoded = decodeBody(version, lsa, privateTypes);
  if (!decoded.ok) {
    warn('malformed', decoded.error.detail);
    return undefined;
  }
  const { body, badTlvs } = decoded.value;
  for (const { error } of badTlvs) warn('bad-tlv', error.detail);
  if (walked) return { id, key, content: { topology: NO_TOPOLOGY, entries: walked.entries } };
  const topology = readTopology(version, READERS[version], body, lsa, warn);
  const entries = c.kinds.read(body, lsa, c.config, warn);
  return topology === NO_TOPOLOGY && entries.length === 0 ? undefined : { id, key, content: { topology, entries } };
}
