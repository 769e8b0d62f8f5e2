// A process of its own with one IS-IS carrier, to be killed by a test. Arguments: system ID, levels, prefixes.
import { origination } from '../../../src/model/advertisement.fixture.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { address } from '../../../src/model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../../src/model/code-points.ts';
import { silentLog } from '../../../src/model/log.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { createIsisCarrier } from '../../../src/carriers/isis/carrier.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { isisOptions } from './isis.ts';

const [systemId, levels, ...prefixes] = process.argv.slice(2);
const carrier = createIsisCarrier(isisOptions(systemId!, { levels: levels as '1' | '2' | '1-2' }), {
  poller: Poller.open({ onError: (error) => console.error(error) }),
  sink: { learned: () => {}, reachability: () => {}, topology: () => {} },
  clock: systemClock,
  work: eventLoopWork(),
  log: silentLog,
  count: () => {},
  codePoints: DEFAULT_CODE_POINTS,
});
carrier.originate(
  origination({ proxies: prefixes.map((text) => ({ prefix: prefix(text), proxy: address('2001:db8:ffff::1') })) }),
);
await carrier.start();
