// For tests: writes a speaker's events, one JSON line each, and reads them back, so that a run can be replayed event by
// event. Keys are configuration, not events; the `configure` event is written without them.
import { type IpAddress, formatAddress, address } from '../../model/address.ts';
import type { Origination } from '../../model/advertisement.ts';
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
  if (event.type === 'originate') return { origination: writable(event.origination) };
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
  if (type === 'originate') return { type, origination: readable(rest['origination']) };
  return { type, ...rest } as SpeakerEvent;
}

/** Addresses as text, unambiguously marked: advertisements of any kind contain some. */
const writable = (origination: Origination): unknown =>
  JSON.parse(
    JSON.stringify(origination, (_, value: unknown) => (isAddress(value) ? { ip: formatAddress(value) } : value)),
  );

const isAddress = (value: unknown): value is IpAddress =>
  typeof value === 'object' && value !== null && 'family' in value && 'value' in value;

const readable = (written: unknown): Origination =>
  JSON.parse(JSON.stringify(written), (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'ip' in value ? address(value.ip as string) : value,
  ) as Origination;
