// How a congested node notifies: what the plan says of it, and how its builder of notifications is configured.
import type { BpfObject } from '../../../src/kernel/bpf/object.ts';
import { CODES, LONG_HAUL } from '../../../src/kernel/dataplane/notice-config.fixture.ts';
import {
  NOTICE_CONFIG_KEY,
  NOTICE_CONFIG_MAP,
  type NoticeConfig,
  encodeNoticeConfig,
} from '../../../src/kernel/dataplane/notice-config.ts';
import type { EgressPortPlan, LongHaulPlan, NotifierPlan } from '../../../src/plan/desired.ts';
import { LOOPBACK4, LOOPBACK6, PNC_PORT } from './detector-tables.ts';

export { CODES, LONG_HAUL };

/** All formats by default. */
export function configureFormats(
  builder: BpfObject,
  config: NoticeConfig = { fastCnp: CODES, longHaul: LONG_HAUL },
  ntpOffsetNs = 0n,
): void {
  builder.map(NOTICE_CONFIG_MAP).update(NOTICE_CONFIG_KEY, encodeNoticeConfig(config, ntpOffsetNs));
}

export const notifierPlan = (longHaul: Partial<LongHaulPlan>): NotifierPlan => ({
  source4: LOOPBACK4,
  source6: LOOPBACK6,
  udpPort: PNC_PORT,
  fastCnp: CODES,
  longHaul: { ...LONG_HAUL, disclose: true, timestamp: true, ...longHaul },
});

/** The port of CongestedRouter, whose K_max is 100 kB. */
export const portPlan = (ifindex: number, fields: Partial<EgressPortPlan> = {}): EgressPortPlan => ({
  id: 't-bpf-port',
  interface: 't-bpf-port',
  ifindex,
  kMin: 50_000,
  kMax: 100_000,
  levelBytes: Array.from({ length: 8 }, (_, n) => 100_000 * (n + 1)),
  perFlowIntervalNs: 20e6,
  noticesPerSecond: 1000,
  burst: 10,
  vEcnPpm: null,
  vGrowthBytes: null,
  intervalNs: 10e6,
  rttNs: 50e6,
  contribution256: 0,
  deferral256: 0,
  instructions: [
    { fromBytes: null, level: 100, action: 'notify', parameter: 0 },
    { fromBytes: 100_000, level: 180, action: 'rate-reduce', parameter: 30 },
  ],
  explanation: [],
  ...fields,
});
