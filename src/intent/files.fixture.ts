// Not part of the daemon: files for the tests of this folder.
import type { IntentError } from './errors.ts';
import type { Intent } from './intent.ts';
import { loadIntent } from './load.ts';

/** A router with a loopback in both families. */
export const ROUTER = 'router: { name: r1, loopback: { ipv4: 192.0.2.1, ipv6: 2001:db8::1 } }\n';

/** The default code points. */
export const UNASSIGNED = {
  'pnc-udp-port': 1021,
  'arn-udp-port': 1022,
  'isis-pnc-flag-bit': 7,
  'ospfv2-pnc-flag-bit': 2,
  'ospfv3-pnc-flag-bit': 2,
  'bgp-pnc-characteristic': 65_500,
  'bgp-private-characteristic': 65_501,
  'isis-supports-sub-tlv': 250,
  'ospfv2-supports-sub-tlv': 33_000,
  'ospfv3-supports-sub-tlv': 33_000,
  'bgp-supports-characteristic': 65_502,
  'ospfv2-private-opaque-type': 240,
  'ospfv3-private-function': 8184,
  'fast-cnp-option': 0x9e,
  'fast-cnp-ioam-option': 0x9e,
  'long-haul-icmpv6-type': 200,
  'long-haul-object-class': 247,
  'end-con-behavior': 0x8002,
  'end-mt-behavior': 0x8001,
  'replication-behavior': 0x8003,
  'srh-end-mt-tlv': 124,
  'srh-tree-tlv': 125,
  'isis-group-application': 65_501,
};

export function load(text: string): Intent {
  const result = loadIntent(text, 'cnpd.yaml');
  if (!result.ok) throw new Error(result.error.map((e) => `${e.line}:${e.column} ${e.path}: ${e.message}`).join('\n'));
  return result.value;
}

export function errorsOf(text: string): IntentError[] {
  const result = loadIntent(text, 'cnpd.yaml');
  return result.ok ? [] : result.error;
}

/** Path and sentence of every error. */
export const complaints = (text: string): string[] => errorsOf(text).map((e) => `${e.path}: ${e.message}`);
