// The daemon: everything wired together, and its life. Data flows one way (docs/architecture.md): the file becomes the
// intent, the intent tells the carriers what to advertise, carriers fill the learned table, intent, table and facts
// make the desired state, reconcile makes it true. A reload runs the same way again from its start. Stopping withdraws
// what was advertised and leaves the dataplane at work; the next start adopts it.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { reloadProblems } from '../diagnosis/configuration.ts';
import { LostNotifications } from '../diagnosis/lost-notifications.ts';
import { diffIntent } from '../intent/diff.ts';
import type { Intent } from '../intent/intent.ts';
import { makePinDirectory } from '../kernel/bpf/bpffs.ts';
import { heldCapabilities } from '../kernel/capabilities.ts';
import { CorePorts } from '../kernel/core-ports.ts';
import { isGatewayPort } from '../kernel/netlink/gateway-ports.ts';
import { hasRoute } from '../kernel/netlink/has-route.ts';
import { lockNetns } from '../kernel/netns-lock.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { RoutesBack } from '../kernel/netlink/routes-back.ts';
import { Poller } from '../kernel/poller.ts';
import { type KernelFeature, probeKernel } from '../kernel/probe.ts';
import { ReversePath } from '../kernel/reverse-path.ts';
import { LearnedTable } from '../learned/table.ts';
import { type Clock, systemClock } from '../model/clock.ts';
import type { Log } from '../model/log.ts';
import { type Work, eventLoopWork } from '../model/work.ts';
import type { ReloadOutcome } from '../northbound/server.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from '../plan/desired.ts';
import { type Facts } from '../plan/facts.ts';
import { originated } from '../plan/origination.ts';
import { plan } from '../plan/plan.ts';
import { Dataplane } from '../reconcile/dataplane.ts';
import { Carriers, holdTimes, patienceMs } from './carriers.ts';
import { Congestion } from './congestion.ts';
import { type Counters, createCounters } from './counters.ts';
import { type FactsWatch, gatherFacts, watchFacts } from './facts.ts';
import { startHousekeeping } from './housekeeping.ts';
import { IntentFile } from './intent-file.ts';
import { Learning } from './learning.ts';
import type { Logging } from './logging.ts';
import { bpfDir, claimRunDir, linksDir } from './run-dir.ts';
import { sidStates } from './sids.ts';
import { StampSlot } from './stamp.ts';
import { stateSource } from './state.ts';
import { NorthboundPart } from './northbound-part.ts';
import { noteGobgp } from './uninstall-gobgp.ts';

export interface DaemonOptions {
  readonly file: string;
  readonly runDir: string;
  /** What the file said at start. */
  readonly intent: Intent;
}

export interface Daemon {
  /** Reads the file again; on errors the intent in force stays. */
  reload(): Promise<ReloadOutcome>;
  /** Withdraws and lets go. The dataplane stays. */
  stop(): Promise<void>;
}

const objectDir = (): string => join(import.meta.dirname, import.meta.dirname.endsWith('chunk') ? '../bpf' : 'bpf');

/**
 * @throws when the run directory, the BPF file system or the northbound socket cannot be had, or a carrier cannot
 * start.
 */
export async function startDaemon(options: DaemonOptions, modules: { logging: Logging }): Promise<Daemon> {
  const daemon = new RunningDaemon(options, modules.logging);
  try {
    await daemon.start();
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return daemon;
}

class RunningDaemon implements Daemon {
  readonly #options: DaemonOptions;
  readonly #logging: Logging;
  readonly #log: Log;
  readonly #clock: Clock = systemClock;
  readonly #work: Work = eventLoopWork();
  readonly #counters: Counters = createCounters();
  readonly #file: IntentFile;
  readonly #table: LearnedTable;
  readonly #learning: Learning;
  readonly #startedAt = new Date();
  #started = false;
  #poller!: Poller;
  #rtnetlink!: Rtnetlink;
  #dataplane!: Dataplane;
  #features: readonly KernelFeature[] = [];
  #facts: Facts = { links: [], qdiscs: [], features: [] };
  #desired: DesiredState | undefined;
  readonly #carriers: Carriers;
  readonly #lost: LostNotifications;
  #refusedSids: ReadonlySet<string> = new Set();
  readonly #northbound = new NorthboundPart();
  #watch: FactsWatch | undefined;
  #stamp: StampSlot | undefined;
  #congestion: Congestion | undefined;
  #routesBack: RoutesBack | undefined;
  #reversePath: ReversePath | undefined;
  readonly #corePorts: CorePorts;
  #releaseNamespace: (() => void) | undefined;
  #releaseRunDir: (() => void) | undefined;
  /** What an earlier run had learned stays. */
  #patient = true;
  #cancelForget: (() => void) | undefined;
  #stopHousekeeping: (() => void) | undefined;
  #stopping: Promise<void> | undefined;
  /** Asked for and not begun. */
  #reloadWaits: Promise<ReloadOutcome> | undefined;
  /** Reloads and re-plans run one after another. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: DaemonOptions, logging: Logging) {
    this.#options = options;
    this.#logging = logging;
    this.#log = logging.room('daemon');
    this.#file = new IntentFile(options.file, options.intent, () => new Date());
    this.#table = new LearnedTable(
      { holdMs: holdTimes(options.intent) },
      { clock: this.#clock, count: this.#counters.count },
    );
    this.#learning = new Learning({
      table: this.#table,
      clock: this.#clock,
      intent: () => this.#file.intent,
      congestedNode: () => this.#dataplane.congestedNode,
      onRouters: () => this.#routersChanged(),
    });
    this.#corePorts = new CorePorts({ ask: isGatewayPort, clock: this.#clock, log: this.#log });
    this.#lost = new LostNotifications({
      counters: () => this.#dataplane?.counters(),
      clock: this.#clock,
      log: this.#log,
    });
    const onStopped = this.#learning.carrierStopped.bind(this.#learning);
    this.#carriers = new Carriers({
      poller: () => this.#poller,
      sink: this.#learning,
      clock: this.#clock,
      logging,
      count: this.#counters.count,
      onStopped,
      refusedSids: () => this.#refusedSids,
    });
  }

  /** In the queue: a reload that is asked for meanwhile waits. */
  start(): Promise<void> {
    return this.#enqueue(() => this.#begin());
  }

  async #begin(): Promise<void> {
    const { runDir } = this.#options;
    const [clock, count] = [this.#clock, this.#counters.count];
    this.#poller = Poller.open({ onError: (error) => this.#unexpected(error) });
    this.#releaseNamespace = lockNetns();
    this.#releaseRunDir = claimRunDir(runDir);
    await this.#openNorthbound();
    makePinDirectory(bpfDir(runDir), linksDir(runDir));
    this.#rtnetlink = Rtnetlink.open({}, { poller: this.#poller });
    this.#features = await probeKernel({ poller: this.#poller });
    const dirs = { bpfDir: bpfDir(runDir), linksDir: linksDir(runDir), objectDir: objectDir() };
    this.#dataplane = new Dataplane(dirs, { clock, work: this.#work, log: this.#logging.room('reconcile'), count });
    this.#counters.addReader(() =>
      [...this.#dataplane.counters()].map(([name, value]) => ({ name, value: Number(value) })),
    );
    this.#watch = watchFacts({
      poller: this.#poller,
      clock,
      log: this.#logging.room('kernel'),
      count,
      onChange: () => this.#enqueue(() => this.#replan()),
    });
    this.#table.declareOwn(originated(this.#file.intent).proxies);
    this.#startMeasuring();
    await this.#replan();
    this.#dataplane.prune();
    // The network needs time to tell everything again; until then nothing learned by an earlier run is forgotten.
    this.#cancelForget = clock.after(patienceMs(this.#file.intent), () => {
      this.#patient = false;
      this.#dataplane.forgetUnknown();
    });
    this.#stopHousekeeping = startHousekeeping(this.#dataplane, {
      clock,
      readFacts: () => (this.#watch?.again(), this.#lost.sample()),
      ageingMs: () => this.#file.intent.queuePairs.ageingMs,
      onDoubts: (ports) => this.#doubted(ports),
      onError: (error) => this.#unexpected(error),
    });
    noteGobgp(runDir, this.#file.intent.bgp);
    await this.#carriers.start(this.#file.intent);
    this.#started = true;
    this.#log.info(
      {
        pid: process.pid,
        capabilities: heldCapabilities(),
        adopted: this.#dataplane.adopted,
        file: this.#options.file,
      },
      'running',
    );
  }

  /** Who asks while one waits for its turn gets that one's answer: it reads the file later than they asked. */
  reload(): Promise<ReloadOutcome> {
    this.#reloadWaits ??= this.#enqueue(() => {
      this.#reloadWaits = undefined;
      return this.#reload();
    });
    return this.#reloadWaits;
  }

  async #reload(): Promise<ReloadOutcome> {
    // What is being let go would be built up again.
    if (this.#stopping) return { ok: false, errors: ['cnpd is stopping'], changed: [] };
    const before = this.#file.intent;
    const read = this.#file.reload();
    if (!read.ok) {
      this.#counters.count('intent.reload.refused');
      this.#log.error({ errors: read.error.errors }, 'the file has errors; the old intent stays in force');
      return { ok: false, errors: read.error.errors, changed: [] };
    }
    const changed = diffIntent(before, read.value);
    this.#counters.count('intent.reload.done');
    this.#log.info({ changed }, 'reloaded');
    this.#logging.setLevel(read.value.logLevel);
    this.#table.configure({ holdMs: holdTimes(read.value) });
    this.#table.declareOwn(originated(read.value).proxies);
    if (this.#reversePath) this.#reversePath.enabled = read.value.router.reversePathCheck;
    this.#stamp?.apply(read.value);
    // Fails only when the kernel cannot be asked; the new intent is in force all the same, and is applied as soon as it
    // can.
    await this.#replan().catch((error: unknown) => {
      this.#watch?.again();
      throw error;
    });
    this.#dataplane.congestedNode?.replaceSenders(this.#desired!.senderProxies);
    this.#northbound.reload(read.value);
    const waiting = this.#northbound.problems(read.value);
    for (const problem of waiting) this.#log.warn(problem, 'something cannot be done as declared');
    if (read.value.bgp) noteGobgp(this.#options.runDir, read.value.bgp);
    try {
      await this.#carriers.reload(read.value, changed);
    } catch (error) {
      this.#file.notDone(error instanceof Error ? error.message : String(error));
      throw error;
    }
    return { ok: true, errors: waiting.map(({ problem, remedy }) => `${problem}: ${remedy}`), changed };
  }

  stop(): Promise<void> {
    this.#stopping ??= (async () => {
      const releases: (() => unknown)[] = [
        () => this.#cancelForget?.(),
        () => this.#stopHousekeeping?.(),
        () => this.#watch?.close(),
        () => this.#queue,
        () => this.#carriers.stop(),
        () => this.#started && !this.#carriers.bgp.carrier?.leavesPaths() && noteGobgp(this.#options.runDir, undefined),
        () => this.#learning.close(),
        () => this.#stamp?.stop(),
        () => this.#congestion?.stop(),
        () => this.#northbound.close(),
        () => this.#dataplane?.close(),
        () => this.#rtnetlink?.close(),
        () => this.#routesBack?.close(),
        () => this.#poller?.close(),
        () => this.#releaseRunDir?.(),
        () => this.#releaseNamespace?.(),
      ];
      // One that fails does not keep the others from being let go.
      for (const release of releases)
        await Promise.resolve()
          .then(release)
          .catch((error: unknown) => this.#unexpected(error));
    })();
    return this.#stopping;
  }

  #enqueue<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(run);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** Pure: what should be, by what is known now. */
  #plan(): DesiredState {
    const { routers } = this.#table;
    const learned = {
      routers,
      forwarding: () => this.#table.forwarding(),
      sizes: () => this.#table.sizes(),
      ...(this.#congestion && { capabilities: this.#congestion.capabilities }),
    };
    return plan(this.#file.intent, learned, this.#facts);
  }

  /** Facts are read anew, the desired state computed and applied. */
  async #replan(): Promise<void> {
    const measured = await gatherFacts(this.#rtnetlink, this.#features, this.#file.intent);
    this.#facts = { ...measured, rttMs: this.#stamp?.rttMs ?? new Map(), ...this.#gatewayPorts(measured) };
    const hadSenders = this.#dataplane.congestedNode !== undefined;
    const desired = this.#plan();
    const known = new Set(this.#desired?.problems.map((p) => p.problem));
    for (const problem of desired.problems) {
      if (!known.has(problem.problem)) this.#log.warn(problem, 'something cannot be done as declared');
    }
    this.#desired = desired;
    if (this.#reversePath)
      this.#reversePath.ports = new Map(desired.learning?.ports.map((port) => [port.ifindex, port]));
    this.#dataplane.apply(desired);
    this.#withdrawRefused();
    // Opened just now: what was learned before has passed it by.
    if (!hadSenders) this.#dataplane.congestedNode?.replaceSenders(desired.senderProxies);
    if (!this.#patient) this.#dataplane.forgetUnknown();
    this.#congestion?.apply(this.#file.intent, desired, this.#dataplane.congestedNode);
    this.#learning.changed();
    this.#lost.sample();
  }

  /** Asked only where something is checked by it, and the operator has not named the ports. */
  #gatewayPorts({ links }: Facts): Pick<Facts, 'gatewayPorts'> {
    const { proxy, notifications, stamp, router } = this.#file.intent;
    return (proxy || notifications || stamp) && !router.corePorts ? { gatewayPorts: this.#corePorts.among(links) } : {};
  }

  /** Something that came by these ports, or has its source behind them, was not believed. */
  #doubted(ports: readonly number[]): void {
    if (this.#corePorts.doubted(ports)) this.#watch?.again();
  }

  /** A SID that is not programmed is not advertised either, and is again once it is. */
  #withdrawRefused(): void {
    const refused = this.#dataplane.srv6?.refusedSids() ?? new Set<string>();
    if (isDeepStrictEqual(refused, this.#refusedSids)) return;
    this.#refusedSids = refused;
    this.#carriers.advertise(this.#file.intent);
  }

  #startMeasuring(): void {
    const [poller, rtnetlink, clock, count] = [this.#poller, this.#rtnetlink, this.#clock, this.#counters.count];
    const again = (): void => this.#watch?.again();
    const interfaceName = (ifindex: number): string | undefined =>
      this.#facts.links.find((link) => link.ifindex === ifindex)?.name;
    const routesBack = (this.#routesBack = RoutesBack.open());
    this.#reversePath = new ReversePath({
      waysTo: (to) => routesBack.waysTo(to),
      onDoubts: (ports) => this.#doubted(ports),
      now: () => clock.now(),
      count,
    });
    this.#reversePath.enabled = this.#file.intent.router.reversePathCheck;
    const reversePath = this.#reversePath;
    this.#stamp = new StampSlot({
      poller,
      rtnetlink,
      clock,
      log: this.#logging.room('stamp'),
      count,
      reversePath,
      interfaceName,
      onChange: again,
    });
    this.#congestion = new Congestion({
      poller,
      rtnetlink,
      clock,
      log: this.#logging.room('congestion'),
      count,
      reversePath,
      onCapabilities: again,
    });
    this.#stamp.apply(this.#file.intent);
  }

  /** The network has taught other SIDs or router addresses. */
  #routersChanged(): void {
    this.#stamp?.learned(this.#table.routers.routerAddresses());
    this.#watch?.again();
  }

  #openNorthbound(): Promise<void> {
    const source = stateSource({
      file: this.#file,
      table: this.#table,
      counters: this.#counters,
      startedAt: this.#startedAt,
      started: () => this.#started,
      facts: () => this.#facts,
      desired: () => this.#desired,
      dataplane: () => this.#dataplane,
      carriers: () => this.#carriers,
      rtnetlink: () => this.#rtnetlink,
      problems: () => this.#problems(),
      notifications: (names) => this.#congestion?.notifications(names) ?? [],
      sids: () =>
        sidStates({
          intent: this.#file.intent,
          routers: this.#table.routers,
          desired: this.#desired,
          dataplane: this.#dataplane,
          hasRoute: (to) => hasRoute(this.#rtnetlink, to),
        }),
      rtt: () => this.#stamp?.state() ?? [],
    });
    return this.#northbound.open(this.#file.intent, {
      source,
      actions: { reload: () => this.reload() },
      log: this.#logging.room('northbound'),
      count: this.#counters.count,
    });
  }

  #problems(): Problem[] {
    // Planned anew: what was learned since can be a problem too.
    const planned = this.#desired ? this.#plan().problems : [];
    return [
      ...reloadProblems(this.#options.file, this.#file.refused),
      ...this.#northbound.problems(this.#file.intent),
      ...this.#carriers.problems(this.#file.intent, Date.now()),
      ...(this.#stamp?.problems ?? []),
      ...(this.#congestion?.problems ?? []),
      ...planned,
      ...(this.#dataplane?.problems() ?? []),
      ...this.#lost.problems(this.#file.intent),
    ];
  }

  #unexpected(error: unknown): void {
    this.#counters.count('daemon.unexpected-error');
    this.#log.error({ error: error instanceof Error ? error.stack : String(error) }, 'unexpected error');
  }
}
