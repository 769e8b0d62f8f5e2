// For tests: the carrier with a client that a test moves by hand.
import { formatAddress } from '../../model/address.ts';
import { byKind } from '../../model/advertisement.fixture.ts';
import type { LearnedOf } from '../../model/advertisement.ts';
import type { BgpPeerState } from '../../model/carrier-state.ts';
import { manualClock } from '../../model/clock.ts';
import { eventLoopWork } from '../../model/work.ts';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { silentLog } from '../../model/log.ts';
import { formatPrefix } from '../../model/prefix.ts';
import type { Recorder } from '../../model/recording.ts';
import { WallTime } from '../../model/wall-time.ts';
import { createBgpCarrier } from './carrier.ts';
import type { GobgpClient, GobgpListener } from './gobgp/gobgp.ts';
import { bgpOptions } from './options.fixture.ts';

export const OPTIONS = bgpOptions('ipv6: 2001:db8::1');

interface Recorded {
  readonly clock?: ReturnType<typeof manualClock>;
  readonly recorder?: Recorder;
}

/** A gobgpd whose answers wait until the test gives them. */
export function fixture(peers?: BgpPeerState[], { clock = manualClock(), recorder }: Recorded = {}) {
  const calls: string[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const answered = (): Promise<void> =>
    new Promise((resolve, reject) => answers.push((error) => (error ? reject(error) : resolve())));
  const reports = new Map<string, string>();
  const sids = new Map<string, readonly LearnedOf<'sid'>[]>();
  const logged: unknown[] = [];
  const reachable: string[][] = [];
  const counters = new Map<string, number>();
  let listener: GobgpListener | undefined;
  const client: GobgpClient = {
    start: () => void calls.push('start'),
    add: (paths) => (calls.push(`add ${paths.map((own) => formatPrefix(own.prefix)).join(' ')}`), answered()),
    withdraw: (prefixes) => (calls.push(`withdraw ${prefixes.map(formatPrefix).join(' ')}`), answered()),
    look: (prefixes) => (calls.push(`look ${prefixes.map(formatPrefix).join(' ')}`), answered()),
    peers: async () => peers,
    setMembers: (members) => void calls.push(`members ${[...members].join(' ')}`),
    policy: () => ({ state: 'installed' }),
    silentMs: () => 0,
    close: async (keepPolicy) => void calls.push(keepPolicy ? 'close, policies stay' : 'close'),
  };
  const carrier = createBgpCarrier(OPTIONS, {
    clock,
    work: eventLoopWork(),
    log: { ...silentLog, warn: (fields, message) => void logged.push([fields, message]) },
    count: (name, by = 1) => void counters.set(name, (counters.get(name) ?? 0) + by),
    codePoints: DEFAULT_CODE_POINTS,
    recorder,
    sink: {
      learned: ({ source, advertisements }) => {
        const { prefixes, sids: some } = byKind(advertisements);
        reports.set(source, prefixes.map(({ proxy }) => (proxy ? formatAddress(proxy) : '-')).join());
        sids.set(source, some);
      },
      reachability: (report) => void reachable.push([...report.reachable]),
      topology: () => {},
    },
    createClient: (given) => ((listener = given), client),
    wallTime: new WallTime(clock, () => Date.UTC(2026, 0, 1) + clock.now()),
  });
  return { clock, calls, answers, carrier, reports, sids, reachable, counters, logged, listener: listener! };
}
