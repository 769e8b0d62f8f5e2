// What the core and the content receive of the carrier's configuration.
import { describe, expect, test } from 'vitest';
import { manualClock } from '../../model/clock.ts';
import { ManualWork } from '../../model/work.fixture.ts';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { WallTime } from '../../model/wall-time.ts';
import { silentLog } from '../../model/log.ts';
import type { Poller } from '../../kernel/poller.ts';
import { AREA_OPTIONS, OPTIONS } from './carrier.fixture.ts';
import { type OspfCarrier, type OspfCarrierOptions, createOspfCarrier } from './carrier.ts';
import { DECLARE_BATCH, LSA_OVERHEAD, LSA_CAPACITY } from './constants.ts';
import { declaration } from './content.fixture.ts';
import type { Content } from './content-state.ts';
import type { OspfRunner } from './runner.edge.ts';

const TENTH_MS = 100;
const EPOCH = Date.UTC(2020, 0, 1);

function configured(
  areas: OspfCarrierOptions['areas'],
  { wall = EPOCH + 60_000, random = 0.5, start = 0, work = new ManualWork() } = {},
): { content: Content; runner: OspfRunner } {
  const clock = manualClock(start);
  return createOspfCarrier(
    { ...OPTIONS, areas },
    {
      poller: {} as Poller,
      sink: { learned: () => undefined, reachability: () => undefined, topology: () => undefined },
      clock,
      work,
      wallTime: new WallTime(clock, () => wall),
      random: () => random,
      log: silentLog,
      count: () => undefined,
      codePoints: { ...DEFAULT_CODE_POINTS, 'end-con-behavior': 0x8077 },
    },
  ) as unknown as { content: Content; runner: OspfRunner };
}
const core = (...what: Parameters<typeof configured>) => configured(...what).runner.speaker;

describe('the core is given', () => {
  test('keys as bytes, and a number of each interface', () => {
    const { config, areas } = core([
      AREA_OPTIONS,
      { ...AREA_OPTIONS, areaId: 1, keys: [{ id: 7, algorithm: 'md5', key: 'näh' }] },
    ]);
    expect(config.areas.map(({ interfaceId }) => interfaceId)).toEqual([1, 2]);
    expect(areas.get(1)!.config.keys).toEqual([
      { id: 7, algorithm: 'md5', secret: Uint8Array.of(0x6e, 0xc3, 0xa4, 0x68) },
    ]);
  });

  test('tenths of seconds since 2020 when the clock began, at least one (RFC 7166 §3)', () => {
    const base = (wall: number, start = 0): number => core([AREA_OPTIONS], { wall, start }).config.authenticationBase;
    expect(base(EPOCH + 60_000)).toBe(60_000 / TENTH_MS);
    expect(base(EPOCH + 60_050, 20_000)).toBe(40_000 / TENTH_MS);
    expect(base(EPOCH - 60_000)).toBe(1);
  });

  test('a seed of 32 bits', () => {
    expect([0, 0.5].map((random) => core([AREA_OPTIONS], { random }).config.seed)).toEqual([0, 2 ** 31]);
  });
});

describe('the content is given', () => {
  test('how much fits an LSA, by the MTU of its area', () => {
    const { content } = configured([
      AREA_OPTIONS,
      { ...AREA_OPTIONS, areaId: 1, mtu: 9000 },
      { ...AREA_OPTIONS, areaId: 2, mtu: 1000 },
    ]);
    expect(content.config.areas.map(({ capacity }) => capacity)).toEqual([
      LSA_CAPACITY,
      LSA_CAPACITY,
      1000 - LSA_OVERHEAD,
    ]);
  });

  test('of which endpoint behaviors it learns', () => {
    expect(configured([AREA_OPTIONS]).content.config.codePoints['end-con-behavior']).toBe(0x8077);
  });
});

test('what is declared is taken over in turns of its own, until all of it is advertised', () => {
  const work = new ManualWork();
  const carrier = configured([AREA_OPTIONS], { work });
  (carrier as unknown as OspfCarrier).originate(
    declaration(
      2,
      Array.from({ length: DECLARE_BATCH }, (_, n) => n),
    ),
  );
  expect(carrier.content.declaring).toBeDefined();
  work.settle();
  expect({ declaring: carrier.content.declaring, declaredSize: carrier.content.declared.size }).toEqual({
    declaring: undefined,
    declaredSize: DECLARE_BATCH,
  });
});
