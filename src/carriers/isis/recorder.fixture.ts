// For tests: writes the events that a speaker was given, one JSON line each, and reads them back, so that a run can be
// replayed event by event. Keys are configuration, not events, except in `configure`, which is written without them.
import { type IpAddress, formatAddress, address } from '../../model/address.ts';
import type { Origination } from '../../model/advertisement.ts';
import { formatPrefix, prefix } from '../../model/prefix.ts';
import type { SpeakerEvent } from './state.ts';

export interface Recorded {
  readonly now: number;
  readonly event: SpeakerEvent;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export function recordEvent(now: number, event: SpeakerEvent): string {
  return JSON.stringify({ now, type: event.type, ...fieldsOf(event) });
}

function fieldsOf(event: SpeakerEvent): object {
  if (event.type === 'received') return { pdu: hex(event.pdu) };
  if (event.type === 'link-up') return { linkLocal: formatAddress(event.linkLocal) };
  if (event.type === 'link-down') return { reason: event.reason };
  if (event.type === 'configure') return { config: { ...event.config, keys: {} } };
  if (event.type === 'originate') {
    const { proxies, sids, routerAddresses, identity } = event.origination;
    return {
      prefixes: proxies.map((p) => [formatPrefix(p.prefix), formatAddress(p.proxy)]),
      sids: sids.map((p) => [formatAddress(p.sid), formatPrefix(p.locator), p.behavior]),
      routerAddresses: routerAddresses.map(formatAddress),
      ...(identity && { identity: identity.map(formatAddress) }),
    };
  }
  return {};
}

/** @throws SyntaxError or RangeError for a line that recordEvent did not write */
export function parseRecorded(line: string): Recorded {
  const { now, type, ...rest } = JSON.parse(line) as { now: number; type: SpeakerEvent['type'] } & Record<
    string,
    unknown
  >;
  return { now, event: eventOf(type, rest) };
}

function eventOf(type: SpeakerEvent['type'], rest: Record<string, unknown>): SpeakerEvent {
  if (type === 'received') return { type, pdu: Uint8Array.from(Buffer.from(rest['pdu'] as string, 'hex')) };
  if (type === 'link-up') return { type, linkLocal: address(rest['linkLocal'] as string) satisfies IpAddress };
  if (type === 'originate') return { type, origination: originationOf(rest) };
  return { type, ...rest } as SpeakerEvent;
}

function originationOf(rest: Record<string, unknown>): Origination {
  return {
    proxies: (rest['prefixes'] as [string, string][]).map(([p, proxy]) => ({
      prefix: prefix(p),
      proxy: address(proxy),
    })),
    // Recordings from before SIDs were advertised have none.
    sids: ((rest['sids'] ?? []) as [string, string, number][]).map(([sid, locator, behavior]) => ({
      sid: address(sid),
      locator: prefix(locator),
      behavior,
    })),
    routerAddresses: ((rest['routerAddresses'] ?? []) as string[]).map(address),
    ...(rest['identity'] !== undefined && { identity: (rest['identity'] as string[]).map(address) }),
  };
}
