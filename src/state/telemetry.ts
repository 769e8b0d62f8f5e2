// What metrics and health read (src/model/telemetry-state.ts), from the owners of the state.
import type { Intent } from '../intent/intent.ts';
import type { LearnedTable } from '../learned/table.ts';
import type { CarrierSummary, LearnedSummary } from '../model/telemetry-state.ts';
import type { StateDependencies } from './state-source.ts';

type Carriers = ReturnType<StateDependencies['carriers']>;
type Declared = Pick<Intent, 'isis' | 'ospfv2' | 'ospfv3' | 'bgp'>;

const NAMES = ['isis', 'ospfv2', 'ospfv3', 'bgp'] as const;

/** The declared carriers. Asks nobody: each knows the state of its own neighbors. */
export const carrierSummaries = (intent: Declared, carriers: Carriers): CarrierSummary[] =>
  NAMES.filter((name) => intent[name] !== undefined).map((name) => ({
    carrier: name,
    running: carriers[name].carrier !== undefined,
    adjacencies: adjacenciesOf(name, intent, carriers),
  }));

function adjacenciesOf(
  name: (typeof NAMES)[number],
  { isis }: Declared,
  carriers: Carriers,
): CarrierSummary['adjacencies'] {
  if (name === 'isis') {
    const { carrier } = carriers.isis;
    return carrier
      ? [{ interface: isis?.interface ?? '', isUp: carrier.neighbors().some(({ state }) => state === 'up') }]
      : [];
  }
  if (name === 'bgp') {
    const { carrier } = carriers.bgp;
    return carrier ? [{ interface: '', isUp: carrier.session().state === 'ready' }] : [];
  }
  const neighbors = carriers[name].carrier?.neighbors() ?? [];
  return neighbors.map((neighbor) => ({ interface: neighbor.interface, isUp: neighbor.state === 'full' }));
}

export function learnedSummary(table: Pick<LearnedTable, 'currentSizes'>): LearnedSummary {
  const { advertisements, proxies4, proxies6, sids, routerAddresses, originators, held } = table.currentSizes();
  return { advertisements, proxies: proxies4 + proxies6, sids, routerAddresses, originators, held };
}
