// The carriers that the daemon runs: a supervisor for each section of the intent that names one. They start, reload and
// stop one after another; one that fails does not block the others.
import { type BgpCarrier, createBgpCarrier } from '../carriers/bgp/carrier.ts';
import { type IsisCarrier, createIsisCarrier } from '../carriers/isis/carrier.ts';
import type { CarrierSink } from '../carriers/carrier.ts';
import { type OspfCarrier, createOspfCarrier } from '../carriers/ospf/carrier.ts';
import { placementProblems } from '../diagnosis/advertised.ts';
import { bgpProblems, disputeProblems } from '../diagnosis/gobgp/session.ts';
import { adjacencyProblems, isisProblems } from '../diagnosis/isis.ts';
import { ospfProblems } from '../diagnosis/ospf.ts';
import { promiseProblems } from '../diagnosis/promises.ts';
import type { BgpIntent, Intent, IsisIntent, OspfIntent } from '../intent/intent.ts';
import type { Poller } from '../kernel/poller.ts';
import type { CarrierName, Origination } from '../model/advertisement.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Work } from '../model/work.ts';
import type { Count } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { Recorder } from '../model/recording.ts';
import { suiteNameOf } from '../model/router-suite.ts';
import { holdMs } from '../plan/hold-times.ts';
import { CarrierSupervisor } from './carrier-supervisor.ts';
import type { Logging } from './logging.ts';

export interface CarriersDependencies {
  /** Called when a carrier is created. */
  readonly poller: () => Poller;
  readonly sink: CarrierSink;
  readonly clock: Clock;
  readonly work: Work;
  readonly logging: Logging;
  readonly count: Count;
  readonly recorder: Recorder;
  /** Entries of the stopped carrier are to be held for `holdMs`. */
  readonly onStopped: (carrier: CarrierName, holdMs: number) => void;
}

const NAMES = ['isis', 'ospfv2', 'ospfv3', 'bgp'] as const;
const OSPF = ['ospfv2', 'ospfv3'] as const;

/**
 * The parts of the intent, besides its section, that a carrier reads only when it is created. When they change, the
 * carrier is created anew, which resets its adjacency.
 */
export const identityOf = (name: (typeof NAMES)[number], { codePoints, router }: Intent): unknown =>
  name === 'isis' ? [codePoints, router.name] : codePoints;

/** The section of a link-state protocol, and whether the intent needs the topology: for trees of End.MT groups. */
type LinkState<Section> = Section & { readonly reportsTopology: boolean };

export const linkState = <Section>(
  section: Section | undefined,
  { srv6, groups }: Intent,
): LinkState<Section> | undefined =>
  section && { ...section, reportsTopology: (srv6?.replication ?? srv6?.endMt ?? groups) !== undefined };

export class Carriers {
  readonly isis: CarrierSupervisor<IsisCarrier, LinkState<IsisIntent>>;
  readonly ospfv2: CarrierSupervisor<OspfCarrier, LinkState<OspfIntent>>;
  readonly ospfv3: CarrierSupervisor<OspfCarrier, LinkState<OspfIntent>>;
  readonly bgp: CarrierSupervisor<BgpCarrier, BgpIntent>;
  /** What the carriers were given last. */
  #origination: Origination = [];

  constructor(dependencies: CarriersDependencies) {
    const { clock, recorder } = dependencies;
    const onStopped: CarriersDependencies['onStopped'] = (carrier, holds) => {
      recorder.carrierStopped(clock.now(), carrier, holds);
      dependencies.onStopped(carrier, holds);
    };
    const ospf = (name: (typeof OSPF)[number]): CarrierSupervisor<OspfCarrier, LinkState<OspfIntent>> =>
      new CarrierSupervisor({
        name,
        section: (intent) => linkState(intent[name], intent),
        identity: (intent) => identityOf(name, intent),
        create: (section, intent) => createOspf(name, section, intent, dependencies),
        holdMs,
        onStopped,
      });
    this.isis = new CarrierSupervisor({
      name: 'isis',
      section: (intent) => linkState(intent.isis, intent),
      identity: (intent) => identityOf('isis', intent),
      create: (section, intent) => createIsis(section, intent, dependencies),
      holdMs,
      onStopped,
    });
    this.ospfv2 = ospf('ospfv2');
    this.ospfv3 = ospf('ospfv3');
    this.bgp = new CarrierSupervisor({
      name: 'bgp',
      section: (intent) => intent.bgp,
      identity: (intent) => identityOf('bgp', intent),
      create: (section, intent) => createBgp(section, intent, dependencies),
      holdMs,
      onStopped,
    });
  }

  /** @throws the error of the first carrier that cannot start; the others have been tried too */
  start(intent: Intent, origination: Origination): Promise<void> {
    this.#origination = origination;
    return this.#each((name) => this[name].start(intent, origination));
  }

  /** @throws Error, with the carrier's name, of the first that cannot reload; the others have been tried too */
  reload(intent: Intent, origination: Origination): Promise<void> {
    this.#origination = origination;
    return this.#each((name) => this[name].reload(intent, origination));
  }

  /** @throws like reload */
  restart(intent: Intent): Promise<void> {
    return this.#each((name) => this[name].restart(intent, this.#origination));
  }

  /** Hands the origination to the running carriers. */
  originate(origination: Origination): void {
    this.#origination = origination;
    for (const name of NAMES) this[name].carrier?.originate(origination);
  }

  stop(): Promise<void> {
    return this.#each((name) => this[name].stop());
  }

  /** Problems of the declared carriers. @param now milliseconds since 1970 */
  problems(intent: Intent, now: number): Problem[] {
    const { isis, bgp } = this;
    return [
      ...NAMES.flatMap((name) => [
        ...this[name].problems,
        ...placementProblems(intent, this.#origination, name, this[name].carrier?.unplaced() ?? 0),
      ]),
      ...adjacencyProblems(intent, isis.carrier, isis.startedAt, now),
      ...isisProblems(intent, isis.carrier),
      ...OSPF.flatMap((name) =>
        ospfProblems(intent[name], this[name].carrier, this[name].startedAt, now, intent.router),
      ),
      ...bgpProblems(bgp.carrier?.session(), bgp.startedAt, now),
      ...disputeProblems(bgp.carrier?.disputed() ?? false),
      ...promiseProblems(intent),
    ];
  }

  async #each(run: (name: (typeof NAMES)[number]) => Promise<void>): Promise<void> {
    const errors: Error[] = [];
    for (const name of NAMES) {
      await run(name).catch((cause: unknown) => errors.push(new Error(`${name}: ${messageOf(cause)}`, { cause })));
    }
    if (errors[0]) throw errors[0];
  }
}

function createIsis(
  isis: LinkState<IsisIntent>,
  { codePoints, router }: Intent,
  { poller, sink, clock, work, logging, count, recorder }: CarriersDependencies,
): IsisCarrier {
  return createIsisCarrier(isis, {
    poller: poller(),
    sink,
    clock,
    work,
    log: logging.component('isis'),
    count,
    recorder,
    codePoints,
    suite: suiteNameOf(router),
    hostname: `${router.name}-cnpd`,
  });
}

function createOspf(
  name: CarrierName,
  ospf: LinkState<OspfIntent>,
  { codePoints, router }: Intent,
  { poller, sink, clock, work, logging, count, recorder }: CarriersDependencies,
): OspfCarrier {
  return createOspfCarrier(ospf, {
    poller: poller(),
    sink,
    clock,
    work,
    log: logging.component(name),
    count,
    recorder,
    codePoints,
    suite: suiteNameOf(router),
  });
}

function createBgp(
  bgp: BgpIntent,
  { codePoints }: Intent,
  { sink, clock, work, logging, count, recorder }: CarriersDependencies,
): BgpCarrier {
  return createBgpCarrier(bgp, { sink, clock, work, log: logging.component('bgp'), count, recorder, codePoints });
}
