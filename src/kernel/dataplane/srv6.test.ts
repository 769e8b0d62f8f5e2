import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { decodeGuardPort, encodeAllowed, encodeGuardPort } from './guard.ts';
import {
  SID_SIZE,
  SRV6_CONFIG_SIZE,
  type Srv6Config,
  TUNNEL_KEY_SIZE,
  decodeSid,
  decodeSrv6Config,
  encodeSid,
  encodeSrv6Config,
  tunnelKey,
} from './srv6.ts';

const config: Srv6Config = {
  defaultSource: address('2001:db8:c::1'),
  hasRows: true,
  ecnMode: 'normal',
  dscp: { kind: 'pipe', outerDscp: 46 },
  sharedIngress: true,
};

describe('maps of the SRv6 programs', () => {
  test.each<Srv6Config>([
    config,
    { ...config, defaultSource: null, hasRows: false, sharedIngress: false },
    { ...config, ecnMode: 'compatibility', dscp: { kind: 'uniform' } },
    { ...config, dscp: { kind: 'pipe', outerDscp: null } },
    { ...config, dscp: { kind: 'pipe', outerDscp: 0 } },
  ])('a configuration is read back as it was written: %#', (value) => {
    expect(encodeSrv6Config(value).length).toBe(SRV6_CONFIG_SIZE);
    expect(decodeSrv6Config(encodeSrv6Config(value))).toEqual(value);
  });

  test('a DSCP of seven bits is refused', () => {
    expect(() => encodeSrv6Config({ ...config, dscp: { kind: 'pipe', outerDscp: 64 } })).toThrow(RangeError);
  });

  test('SIDs are read back as they were written', () => {
    for (const sid of [
      { families: [4, 6] as const, endCon: true, decapsulate: true, table: 0, ownRoute: true },
      { families: [6] as const, endCon: false, decapsulate: false, table: 4_000_000_000, ownRoute: false },
    ]) {
      expect(encodeSid(sid).length).toBe(SID_SIZE);
      expect(decodeSid(encodeSid(sid))).toEqual(sid);
    }
  });

  test('the key of a tunnel source: length in bits with interface and family, then interface, family, address', () => {
    expect(Buffer.from(tunnelKey(7, prefix('10.1.0.0/16'))).toString('hex')).toBe(
      '38000000' + '07000000' + '04' + '0a010000' + '00'.repeat(12) + '000000',
    );
    expect(tunnelKey(0, prefix('2001:db8::/32')).length).toBe(TUNNEL_KEY_SIZE);
    expect(tunnelKey(0, prefix('2001:db8::/32'))[0]).toBe(72);
  });
});

describe('maps of the guard', () => {
  test('FCNP-5-f: a kind that is not configured is off', () => {
    for (const port of [
      { udpPort: 1021 },
      { udpPort: 1021, fastCnpOption: 0x9e, fastCnpIoamOption: 0x9d, longHaulIcmpv6Type: 200 },
    ]) {
      expect(decodeGuardPort(encodeGuardPort(port))).toEqual(port);
    }
  });

  test('an allowed prefix has its family', () => {
    expect({ ipv6: encodeAllowed(prefix('::/0'))[0], ipv4: encodeAllowed(prefix('10.0.0.0/8'))[0] }).toEqual({
      ipv6: 6,
      ipv4: 4,
    });
  });
});
