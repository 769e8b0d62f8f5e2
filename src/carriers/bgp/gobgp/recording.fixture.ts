// Messages of a real gobgpd (recorded-v3.json, recorded-v4.json; test/e2e/gobgp-recording.test.ts makes them), and what
// they mean.
import type { BgpPeerState } from '../../../model/carrier-state.ts';
import { formatAddress } from '../../../model/address.ts';
import { formatPrefix } from '../../../model/prefix.ts';
import type { GobgpApi } from './api.ts';
import { type About, decodeAbout, decodeEvent, decodeListed, decodePeer } from './messages.ts';

/** Hexadecimal, a message each. */
export interface Recording {
  readonly daemon: string;
  readonly how: string;
  readonly getBgp: string;
  /** Of the tables of both families. */
  readonly list: readonly string[];
  readonly peers: readonly string[];
  readonly watch: readonly string[];
}

export interface Meaning {
  readonly about: About;
  readonly list: readonly string[][];
  readonly peers: readonly (BgpPeerState | undefined)[];
  readonly watch: readonly (string | string[])[];
}

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));

export function meaning(api: GobgpApi, recording: Recording): Meaning {
  return {
    about: decodeAbout(bytes(recording.getBgp)),
    list: recording.list.map((message) => decodeListed(bytes(message)).map((path) => words(api, path))),
    peers: recording.peers.map((message) => decodePeer(bytes(message))),
    watch: recording.watch.map((message) => {
      const event = decodeEvent(bytes(message));
      return event.type === 'paths' ? event.paths.map((path) => words(api, path)) : event.type;
    }),
  };
}

/** A path in one line. */
export function words(api: GobgpApi, encoded: Uint8Array): string {
  const decoded = api.decodePath(encoded);
  if (!decoded) return 'another family';
  if (!decoded.ok) return `${decoded.error.code}: ${decoded.error.message}`;
  const { prefix, path, neighbor, identifier, unreachable } = decoded.value;
  const name =
    `${formatPrefix(prefix)} from ${neighbor ?? 'here'} identifier ` +
    `${identifier}${unreachable ? ' unreachable' : ''}`;
  if (!path) return `${name} withdrawn`;
  const segments = path.asPath.map(({ type, numbers }) => `${type} ${numbers.join(',')}`).join(' ');
  return (
    `${name} via ${formatAddress(path.nextHop)} as-path [${segments}] med ` +
    `${path.med}${path.best ? ' best' : ''}${path.nhc ? ` nhc ${Buffer.from(path.nhc).toString('hex')}` : ''}` +
    `${path.badNhcFlags === undefined ? '' : ` flags 0x${path.badNhcFlags.toString(16)}`}`
  );
}
