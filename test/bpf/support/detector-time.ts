// Time that passes for the detector without anybody waiting: every time that it remembers is moved back by as much. The
// windows of a test may then be so long that it does not matter how slow the machine is.
import { EGRESS_MAPS } from '../../../src/kernel/dataplane/egress.ts';
import { FLOW_WAYS } from '../../../src/kernel/dataplane/flows.ts';
import { LITTLE_ENDIAN, viewOf } from '../../../src/kernel/dataplane/layout.ts';
import type { CongestedRouter } from './congested-router.ts';
import { isZero } from './emptied-maps.ts';

/** Times in struct flow_set, struct flow, struct egress_measure and in a bucket; a zero is "never" and stays. */
const SET = { evictedNotice: 8, ways: 16, flowSize: 224 } as const;
const FLOW_TIMES = {
  firstSeen: 88,
  lastSeen: 96,
  lastNotice: 104,
  notifiedAt: 128,
  ceExemptUntil: 152,
  rateStart: 184,
  deferredUntil: 208,
} as const;
const FLOW_SHARE_WINDOW = 160;
const MEASURE_TIMES = { intervalStart: 0, lastCongested: 40, congestedSince: 48 } as const;
/** Of the kernel's timer, 32 bits: whatever else it is, it is another one. */
const MEASURE_TICK = 36;
const MEASURE_SHARE_WINDOW = 56;

/** `intervalNs`: the port's, in whole multiples of which shares are windowed. */
export function passTime(r: CongestedRouter, ns: number, intervalNs: number): void {
  const windows = Math.floor(ns / intervalNs);
  change(r, EGRESS_MAPS.flows, (view) => {
    earlier(view, SET.evictedNotice, ns);
    for (let way = 0; way < FLOW_WAYS; way++) {
      const at = SET.ways + way * SET.flowSize;
      for (const field of Object.values(FLOW_TIMES)) earlier(view, at + field, ns);
      earlier(view, at + FLOW_SHARE_WINDOW, windows);
    }
  });
  change(r, EGRESS_MAPS.measures, (view) => {
    for (const field of Object.values(MEASURE_TIMES)) earlier(view, field, ns);
    view.setUint32(MEASURE_TICK, ~view.getUint32(MEASURE_TICK, LITTLE_ENDIAN), LITTLE_ENDIAN);
    earlier(view, MEASURE_SHARE_WINDOW, windows);
  });
  change(r, EGRESS_MAPS.buckets, (view) => {
    // A bucket's time is compared with now and is no age: before the machine started is as good as never.
    if (view.getBigUint64(0, LITTLE_ENDIAN) > BigInt(ns)) earlier(view, 0, ns);
    else view.setBigUint64(0, 0n, LITTLE_ENDIAN);
  });
}

/** Changes the values of an array map that are not all zero. */
function change(r: CongestedRouter, name: string, edit: (view: DataView) => void): void {
  const map = r.egress.map(name);
  for (const [key, value] of [...map.entries()]) {
    if (isZero(value)) continue;
    edit(viewOf(value));
    map.update(key, value);
  }
}

function earlier(view: DataView, at: number, by: number): void {
  const time = view.getBigUint64(at, LITTLE_ENDIAN);
  if (time !== 0n) view.setBigUint64(at, BigInt.asUintN(64, time - BigInt(by)), LITTLE_ENDIAN);
}
