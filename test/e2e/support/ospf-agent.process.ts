// A process of its own with one OSPF carrier, to be killed by a test. Arguments: version, router ID, proxy address,
// prefixes.
import { origination } from '../../../src/model/advertisement.fixture.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { address } from '../../../src/model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../../src/model/code-points.ts';
import { silentLog } from '../../../src/model/log.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { createOspfCarrier } from '../../../src/carriers/ospf/carrier.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { carrierOptions } from './ospf-carrier.ts';

const [version, routerId, proxy, ...prefixes] = process.argv.slice(2);
const carrier = createOspfCarrier(carrierOptions(version === '2' ? 2 : 3, routerId!), {
  poller: Poller.open({ onError: (error) => console.error(error) }),
  sink: { learned: () => {}, reachability: () => {}, topology: () => {} },
  clock: systemClock,
  work: eventLoopWork(),
  log: silentLog,
  count: () => {},
  codePoints: DEFAULT_CODE_POINTS,
});
carrier.originate(origination({ proxies: prefixes.map((text) => ({ prefix: prefix(text), proxy: address(proxy!) })) }));
await carrier.start();
