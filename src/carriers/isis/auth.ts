// Authentication of PDUs by HMAC-MD5 (RFC 5304): one key for hellos, one for the LSPs and SNPs of each level. Without a
// configured key nothing is checked, as in FRR. Cleartext and RFC 5310 are not supported; such PDUs are counted as
// `unsupported`.
import { warnLimited } from '../effects.ts';
import { found } from '../../model/recording.ts';
import { AUTHENTICATION_LENGTH, type Verdict, signPdu, verifyPdu } from '../../packet/isis/auth.ts';
import { maskPdu } from '../../packet/isis/masked.ts';
import { isLsp } from '../../packet/isis/pdu-format.ts';
import type { Level } from '../../packet/isis/types.ts';
import type { Speaker } from './state.ts';

export type KeyScope = 'interface' | 'area' | 'domain';

export const scopeOf = (level: Level): KeyScope => (level === 1 ? 'area' : 'domain');

const COUNTER: Record<Exclude<Verdict, 'ok'>, string> = {
  missing: 'missing',
  wrong: 'wrong-key',
  unsupported: 'unsupported',
};

/** Bytes that signing adds to a PDU of this scope. */
export const authenticationSize = (s: Speaker, scope: KeyScope): number =>
  s.config.keys[scope] ? AUTHENTICATION_LENGTH : 0;

export function sign(s: Speaker, scope: KeyScope, pdu: Uint8Array): Uint8Array {
  const key = s.config.keys[scope];
  if (!key) return pdu;
  // Of other PDUs the speaker keeps nothing.
  return isLsp(pdu) ? found(s.config.findings, () => signPdu(pdu, key), maskPdu) : signPdu(pdu, key);
}

/** @returns whether the PDU may be used. If not, drop it: it is counted as `auth.<scope>.<reason>`. */
export function authentic(s: Speaker, scope: KeyScope, raw: Uint8Array): boolean {
  const key = s.config.keys[scope];
  if (!key) return true;
  const verdict = found(s.config.findings, () => verifyPdu(raw, key));
  if (verdict === 'ok') return true;
  warnLimited(
    s,
    `auth.${scope}.${COUNTER[verdict]}`,
    { scope },
    `PDU dropped: authentication ${COUNTER[verdict]} (${scope} key)`,
  );
  return false;
}
