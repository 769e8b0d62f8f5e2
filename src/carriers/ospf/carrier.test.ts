// The carrier as the daemon has it, before its links are there: what it advertises is in its own database already.
import { origination } from '../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { manualClock } from '../../model/clock.ts';
import { ManualWork } from '../../model/work.fixture.ts';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { silentLog } from '../../model/log.ts';
import { prefix } from '../../model/prefix.ts';
import type { Poller } from '../../kernel/poller.ts';
import { decodeBody, privateTypesOf } from '../../packet/ospf/lsa.ts';
import { opaqueLsId } from '../../packet/ospf/lsa-type.ts';
import { AREA_OPTIONS, OPTIONS, rawLsa } from './carrier.fixture.ts';
import { type OspfCarrier, type OspfCarrierOptions, createOspfCarrier } from './carrier.ts';

/** A carrier that is to advertise one SID; nothing is started. */
function saying(codePoints: typeof DEFAULT_CODE_POINTS): OspfCarrier {
  const clock = manualClock();
  const sink = { learned: () => undefined, reachability: () => undefined, topology: () => undefined };
  const carrier = createOspfCarrier(OPTIONS, {
    poller: {} as Poller,
    sink,
    clock,
    work: new ManualWork(),
    log: silentLog,
    count: () => undefined,
    codePoints,
  });
  carrier.originate(
    origination({ sids: [{ sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: 0x8002 }] }),
  );
  clock.advance(1000);
  return carrier;
}

describe('code points', () => {
  test.each([
    ['ours by default', DEFAULT_CODE_POINTS, 240],
    ['an operator’s', { ...DEFAULT_CODE_POINTS, 'ospfv2-private-opaque-type': 200 }, 200],
  ] as const)('E: the opaque type of the LSA with SIDs is %s', (_whose, codePoints, opaqueType) => {
    const carrier = saying(codePoints);
    expect(carrier.database()).toMatchObject([{ type: 'cnpd', lsId: `${opaqueType}.0.0.0`, own: true }]);
    const key = { type: 10, lsId: opaqueLsId(opaqueType, 0), advertisingRouter: OPTIONS.routerId };
    const raw = rawLsa(carrier, 0, key)!;
    expect(decodeBody(2, { ...key, raw }, privateTypesOf(codePoints))).toMatchObject({
      ok: true,
      value: { body: { kind: 'private' } },
    });
  });
});

describe('another configuration', () => {
  const keyed = (...secrets: string[]): OspfCarrierOptions => ({
    ...OPTIONS,
    areas: [{ ...AREA_OPTIONS, keys: secrets.map((key, i) => ({ id: i + 1, algorithm: 'md5', key })) }],
  });

  test('with other keys or another hold time is taken over while the carrier runs; with anything else it is not', () => {
    const carrier = saying(DEFAULT_CODE_POINTS);
    expect(carrier.update(keyed('one'))).toBe(true);
    expect(carrier.update({ ...keyed('one', 'two'), holdUnreachableMs: 1 })).toBe(true);
    expect(carrier.update({ ...keyed('one', 'two'), helloSeconds: 1 })).toBe(false);
    expect(carrier.update({ ...OPTIONS, areas: [{ ...AREA_OPTIONS, mtu: 1400 }] })).toBe(false);
    expect(carrier.database()).toHaveLength(1);
  });
});
