// What the operator declares, made into paths: with `advertise: senders` one a sender prefix, with the proxy's address
// (PNC §5.4); with `proxy-host` one for the proxy's own host prefix, which learners find through the next hop of the
// senders' routes. The node's host routes, those of its next hops, also have the private characteristic when the node
// has SIDs or is where its STAMP reflector answers.
//
// A prefix needs a next hop of its own family. Without one, and without a usable proxy, it is counted and not
// advertised.
import { count, warnLimited } from '../../effects.ts';
import {
  type Family,
  type IpAddress,
  compareAddresses,
  formatAddress,
  isUnicastHost,
  sameAddress,
} from '../../../model/address.ts';
import type { AdvertisementKinds, Origination } from '../../../model/advertisement.ts';
import { type Prefix, formatPrefix, hostPrefix } from '../../../model/prefix.ts';
import { AFI, SAFI_UNICAST, encodeNhc } from '../../../packet/bgp/nhc.ts';
import { pncCharacteristic, privateCharacteristic } from '../../../packet/bgp/characteristics.ts';
import { EncodeError } from '../../../packet/encode-error.ts';
import { type ContainerTlv, encodeSidContainer } from '../../../packet/sid-container.ts';
import { type DeclaredByKind, declaredByKind } from '../../by-kind.ts';
import { NO_EXPORT, SID_LIMIT } from '../constants.ts';
import type { Content, ContentConfig } from '../state.ts';
import { samePaths } from '../gobgp/gobgp.ts';
import { type Drafts, type Draft, type Attributes, type Own, markDirty, ownOf } from './state.ts';

const FAMILIES: readonly Family[] = [4, 6];
const nextHopOf = ({ nextHop4, nextHop6 }: ContentConfig, family: Family): IpAddress | undefined =>
  family === 4 ? nextHop4 : nextHop6;

/**
 * Sets the whole of what we declare; each step is a prefix. A path for a new prefix is desired at once, so that the
 * first are with gobgpd while the others are still looked at; one that was desired before changes when everything has
 * been seen. A declaration that comes in between goes over all of it again.
 */
export function* declare(c: Content, origination: Origination): Generator<void> {
  const drafts: Drafts = {
    attributes: { communities: ownCommunities(c.config), nhcs: new Map(), last: undefined },
    unplaced: 0,
  };
  const declared = declaredByKind(origination);
  for (const { prefix, proxy } of declared.proxies) {
    declareProxy(c, drafts, prefix, proxy);
    yield;
  }
  declareNode(c, drafts, declared);
  c.unplaced = drafts.unplaced;
  for (const own of c.own.paths.values()) {
    const { draft } = own;
    own.draft = undefined;
    if (draft?.of !== drafts) {
      own.desired = undefined;
      markDirty(c.own, own);
    } else if (!draft.done) setDesired(c, own, draft);
    yield;
  }
}

function setDesired({ config, own: state }: Content, own: Own, draft: Draft): void {
  const { attributes } = draft.of;
  const path = {
    prefix: own.prefix,
    nextHop: draft.nextHop,
    nhc: nhcOf(config, draft, attributes),
    communities: attributes.communities,
    largeCommunities: config.largeCommunities,
  };
  draft.done = true;
  if (own.desired && samePaths(own.desired, path)) return;
  own.desired = path;
  markDirty(state, own);
}

function declareProxy(c: Content, drafts: Drafts, prefix: Prefix, proxy: IpAddress): void {
  const nextHop = nextHopOf(c.config, prefix.address.family);
  if (!nextHop || !isUnicastHost(proxy)) {
    drafts.unplaced++;
    if (nextHop)
      warnLimited(
        c,
        'originate.unusable-proxy',
        { proxy: formatAddress(proxy) },
        'an address that cannot be a proxy is not advertised',
      );
    else
      warnLimited(
        c,
        'originate.no-next-hop',
        { family: prefix.address.family },
        'a prefix without a next hop of its family is not advertised',
      );
    return;
  }
  if (c.config.advertise === 'senders') {
    const own = ownOf(c.own, formatPrefix(prefix), prefix);
    const draft = draftOf(own, drafts, nextHop);
    setProxy(c, draft, proxy);
    if (!own.desired) setDesired(c, own, draft);
    return;
  }
  // Found through the next hop of the sender's route, hence the next hop's host prefix too where that is another
  // address.
  for (const host of [proxy, nextHop]) {
    const via = nextHopOf(c.config, host.family);
    if (via) setProxy(c, hostDraft(c, drafts, host, via), proxy);
  }
}

function draftOf(own: Own, drafts: Drafts, nextHop: IpAddress): Draft {
  if (own.draft?.of !== drafts) own.draft = { of: drafts, nextHop, proxy: undefined, sids: undefined, done: false };
  return own.draft;
}

function hostDraft(c: Content, drafts: Drafts, host: IpAddress, nextHop: IpAddress): Draft {
  const prefix = hostPrefix(host);
  return draftOf(ownOf(c.own, formatPrefix(prefix), prefix), drafts, nextHop);
}

/** Of two proxies for one prefix the lower address wins (decision D7). */
function setProxy(c: Content, draft: Draft, proxy: IpAddress): void {
  if (draft.proxy && !sameAddress(draft.proxy, proxy)) count(c, 'originate.duplicate-prefix');
  if (draft.proxy && compareAddresses(proxy, draft.proxy) >= 0) return;
  draft.proxy = proxy;
  draft.done = false;
}

function declareNode(c: Content, drafts: Drafts, { sids, routerAddresses }: DeclaredByKind): void {
  const usable = sids.filter(encodable);
  const advertised = usable.slice(0, SID_LIMIT);
  drafts.unplaced += sids.length - advertised.length;
  if (usable.length < sids.length)
    warnLimited(
      c,
      'originate.unusable-sid',
      {},
      'a SID that is not in its locator is not advertised',
      sids.length - usable.length,
    );
  if (advertised.length < usable.length)
    warnLimited(
      c,
      'originate.no-room',
      {},
      `a path holds at most ${SID_LIMIT} SIDs: the others are not advertised`,
      usable.length - advertised.length,
    );
  let hosts = 0;
  for (const family of FAMILIES) {
    const nextHop = nextHopOf(c.config, family);
    if (!nextHop || (advertised.length === 0 && !routerAddresses.some((a) => sameAddress(a, nextHop)))) continue;
    const draft = hostDraft(c, drafts, nextHop, nextHop);
    draft.sids = advertised;
    draft.done = false;
    hosts++;
  }
  if (advertised.length > 0 && hosts === 0) {
    drafts.unplaced += advertised.length;
    warnLimited(
      c,
      'originate.no-next-hop',
      {},
      'SIDs are advertised with the host prefix of a next hop, and there is none',
      advertised.length,
    );
  }
  const left = routerAddresses.filter((a) => !FAMILIES.some((family) => equal(nextHopOf(c.config, family), a))).length;
  if (left > 0)
    warnLimited(
      c,
      'originate.router-address-left-out',
      { left },
      'a STAMP reflector that answers at another address than the next hop is not advertised',
      left,
    );
}

const equal = (a: IpAddress | undefined, b: IpAddress): boolean => a !== undefined && sameAddress(a, b);

const contained = ({ sid, locator, behavior }: AdvertisementKinds['sid']): ContainerTlv => ({
  tlv: 'sid',
  sid,
  locator,
  behavior,
});

function encodable(sid: AdvertisementKinds['sid']): boolean {
  try {
    return encodeSidContainer([contained(sid)]).length > 0;
  } catch (error) {
    if (error instanceof EncodeError) return false;
    throw error;
  }
}

/** Prefixes of one proxy share the attribute. */
function nhcOf({ codes }: ContentConfig, { nextHop, proxy, sids }: Draft, attributes: Attributes): Uint8Array {
  const { last, nhcs } = attributes;
  if (last && proxy && !sids && sameAddress(proxy, last.proxy) && sameAddress(nextHop, last.nextHop)) return last.nhc;
  const key = `${nextHop.family} ${proxy && formatAddress(proxy)} ${sids !== undefined}`;
  let nhc = nhcs.get(key);
  if (!nhc) {
    const characteristics = [
      ...(proxy ? [pncCharacteristic(codes.pnc, proxy)] : []),
      ...(sids ? [privateCharacteristic(codes.private, sids.map(contained))] : []),
    ];
    nhc = encodeNhc({ afi: nextHop.family === 4 ? AFI.ipv4 : AFI.ipv6, safi: SAFI_UNICAST, nextHop, characteristics });
    nhcs.set(key, nhc);
  }
  if (proxy && !sids) attributes.last = { nextHop, proxy, nhc };
  return nhc;
}

/** Without a domain no path leaves the AS: gobgpd cannot take a single attribute off at its border (decision D9). */
const ownCommunities = ({ communities, domain }: ContentConfig): readonly number[] =>
  domain.size > 0 || communities.includes(NO_EXPORT) ? communities : [...communities, NO_EXPORT];
