// The daemon: wires all components together and runs their life cycle. The data flow between them is the coordinator's
// task (src/coordinator/). Stopping withdraws all advertisements and leaves the dataplane; the next start adopts it.
import { Coordinator } from '../coordinator/coordinator.ts';
import { LostNotifications } from '../diagnosis/lost-notifications.ts';
import type { Intent } from '../intent/intent.ts';
import { heldCapabilities } from '../kernel/capabilities.ts';
import { CorePorts } from '../kernel/core-ports.ts';
import { isGatewayPort } from '../kernel/netlink/gateway-ports.ts';
import { lockNetns } from '../kernel/netns-lock.ts';
import { Poller } from '../kernel/poller.ts';
import { LearnedTable } from '../learned/table.ts';
import { type Clock, systemClock } from '../model/clock.ts';
import type { ConfigOutcome } from '../model/config-change.ts';
import type { Log } from '../model/log.ts';
import { type Work, eventLoopWork } from '../model/work.ts';
import { holdTimes } from '../plan/hold-times.ts';
import { Carriers } from './carriers.ts';
import { type Counters, createCounters } from './counters.ts';
import { startHousekeeping } from '../coordinator/housekeeping.ts';
import { GroupMembers } from './group-members.ts';
import { ConfigChanges } from './config-changes.ts';
import { compareConfigs, followConfig } from './config-in-force.ts';
import { tryConfig, writeConfig } from './config-store.ts';
import { type Config, IntentFile } from './intent-file.ts';
import { KernelParts } from './kernel-parts.ts';
import type { Logging } from './logging.ts';
import { NorthboundPart } from './northbound-part.ts';
import { Receivers } from './receivers.ts';
import { RecordingPart } from './recording-part.ts';
import { releaseAll } from './release-all.ts';
import { restartGroup } from './restart-group.ts';
import { Telemetry } from './telemetry.ts';
import { claimRunDir } from './run-dir.ts';
import type { ServiceManager } from './service-manager.ts';
import { noteGobgp } from './uninstall-gobgp.ts';

export interface DaemonOptions {
  readonly file: string;
  readonly runDir: string;
  /** Directory of what survives a reboot; absent: nothing does. */
  readonly stateDir?: string | undefined;
  /** As loaded at start. */
  readonly config: Config;
  /** Whether events of the machines are recorded from the start. */
  readonly record?: boolean;
}

export interface DaemonDependencies {
  readonly logging: Logging;
  readonly manager: Pick<ServiceManager, 'reloading'>;
}

export interface Daemon {
  /** Reads the file again. If it has errors, the current intent stays in force. */
  reload(): Promise<ConfigOutcome>;
  /** Groups of which packets pass here. @throws KernelError */
  transfers(): readonly string[];
  /** Withdraws all advertisements and releases everything. The dataplane stays. */
  stop(): Promise<void>;
}

/**
 * @throws if the run directory, the BPF file system or the northbound socket is not available, or a carrier cannot
 * start.
 */
export async function startDaemon(options: DaemonOptions, dependencies: DaemonDependencies): Promise<Daemon> {
  const daemon = new RunningDaemon(options, dependencies);
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
  readonly #manager: Pick<ServiceManager, 'reloading'>;
  readonly #log: Log;
  readonly #clock: Clock = systemClock;
  readonly #work: Work = eventLoopWork();
  readonly #counters: Counters = createCounters();
  readonly #file: IntentFile;
  readonly #members: GroupMembers;
  readonly #table: LearnedTable;
  readonly #coordinator: Coordinator;
  readonly #carriers: Carriers;
  readonly #lost: LostNotifications;
  readonly #corePorts: CorePorts;
  readonly #northbound = new NorthboundPart(this.#clock);
  readonly #recording: RecordingPart;
  readonly #telemetry: Telemetry;
  readonly #changes: ConfigChanges;
  readonly #startedAt = new Date();
  #started = false;
  #poller!: Poller;
  #kernel: KernelParts | undefined;
  #receivers: Receivers | undefined;
  #releaseNamespace: (() => void) | undefined;
  #releaseRunDir: (() => void) | undefined;
  #stopHousekeeping: (() => void) | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: DaemonOptions, { logging, manager }: DaemonDependencies) {
    const [clock, { count }] = [this.#clock, this.#counters];
    this.#options = options;
    this.#logging = logging;
    this.#manager = manager;
    const log = (this.#log = logging.component('daemon'));
    this.#file = new IntentFile(options.file, options.config, () => new Date());
    this.#members = new GroupMembers(options, {
      file: () => this.#file.intent,
      onChange: (intent) => this.#coordinator.membersChanged(intent),
      onSource: (group) => void this.#kernel?.dataplane.multicast?.restart(group),
      count,
      log,
    });
    this.#table = new LearnedTable({ holdMs: holdTimes(options.config.intent) }, { clock, count });
    this.#corePorts = new CorePorts({ ask: isGatewayPort, clock, log });
    this.#lost = new LostNotifications({
      counters: (names) => this.#kernel?.dataplane.countersNamed(names),
      clock,
      log,
    });
    this.#coordinator = this.#createCoordinator(options.config.intent);
    this.#recording = new RecordingPart(options, { clock, count, log, restart: () => this.#restartMachines() });
    this.#carriers = new Carriers({
      poller: () => this.#poller,
      recorder: this.#recording.recorder,
      sink: this.#coordinator.learning,
      ...this.#common,
      onStopped: (carrier, holdMs) => this.#coordinator.learning.carrierStopped(carrier, holdMs),
    });
    this.#changes = this.#createChanges();
    this.#telemetry = this.#createTelemetry();
    // There from the start: an alert sees the first one, too.
    count('daemon.unexpected-error', 0);
  }

  #createCoordinator(intent: Intent): Coordinator {
    return new Coordinator(intent, {
      table: this.#table,
      inputs: {
        kernelFacts: (planned) => this.#kernel!.facts(planned),
        gatewayPorts: (links) => this.#corePorts.among(links),
        rttMs: () => this.#receivers?.stamp.rttMs ?? new Map(),
        capabilities: () => this.#receivers?.congestion.capabilities,
      },
      dataplane: () => this.#kernel!.dataplane,
      originate: (origination) => this.#carriers.originate(origination),
      onRouters: () => this.#receivers?.stamp.learned(this.#table.routers.routerAddresses()),
      onPlanned: (desired, planned) => {
        this.#receivers?.follow(desired, planned, this.#kernel?.dataplane);
        this.#lost.sample();
      },
      ...this.#common,
      log: this.#log,
    });
  }

  /** Runs in turn: a reload requested meanwhile waits. */
  start(): Promise<void> {
    return this.#coordinator.inTurn(() => this.#begin());
  }

  async #begin(): Promise<void> {
    const { file, runDir } = this.#options;
    this.#poller = Poller.open({ onError: (error) => this.#unexpected(error) });
    this.#releaseNamespace = lockNetns();
    this.#releaseRunDir = claimRunDir(runDir);
    this.#members.load();
    if (this.#options.record) await this.#recording.fromStart();
    const { intent } = this.#members;
    await this.#openNorthbound();
    await this.#telemetry.follow(this.#file.intent);
    const { dataplane } = (this.#kernel = await this.#openKernel());
    this.#receivers = this.#createReceivers(this.#kernel);
    this.#receivers.configure(intent);
    await this.#coordinator.adopt(intent);
    dataplane.prune();
    this.#coordinator.startPatience();
    this.#stopHousekeeping = startHousekeeping(dataplane, {
      ...this.#common,
      readFacts: () => (this.#coordinator.inputsChanged(), this.#lost.sample()),
      ageingMs: () => this.#file.intent.queuePairs.ageingMs,
      onDoubts: (ports) => this.#doubted(ports),
      onError: (error) => this.#unexpected(error),
    });
    noteGobgp(runDir, intent.bgp);
    await this.#carriers.start(intent, this.#coordinator.origination);
    await this.#northbound.serve(this.#file.intent);
    this.#started = true;
    this.#log.info({ pid: process.pid, capabilities: heldCapabilities(), adopted: dataplane.adopted, file }, 'started');
    this.#telemetry.look();
  }

  /** Dependencies of most parts. */
  get #common() {
    const { count } = this.#counters;
    return { clock: this.#clock, work: this.#work, logging: this.#logging, count };
  }

  async #openKernel(): Promise<KernelParts> {
    const kernel = await KernelParts.open({
      runDir: this.#options.runDir,
      ...this.#common,
      poller: this.#poller,
      onChange: () => this.#coordinator.inputsChanged(),
    });
    this.#counters.addReader(function* () {
      const counters = yield* kernel.dataplane.counters();
      return [...counters].map(([name, value]) => ({ name, value: Number(value) }));
    });
    return kernel;
  }

  #createReceivers({ rtnetlink }: KernelParts): Receivers {
    return new Receivers({
      ...this.#common,
      poller: this.#poller,
      recorder: this.#recording.recorder,
      rtnetlink,
      interfaceName: (ifindex) => this.#coordinator.facts.links.find((link) => link.ifindex === ifindex)?.name,
      onInput: () => this.#coordinator.inputsChanged(),
      onDoubts: (ports) => this.#doubted(ports),
    });
  }

  reload(): Promise<ConfigOutcome> {
    return this.#changes.reload();
  }

  #createChanges(): ConfigChanges {
    const parts = { file: this.#file, members: this.#members, coordinator: this.#coordinator, work: this.#work };
    const followers = {
      ...{ ...parts, runDir: this.#options.runDir, carriers: this.#carriers, northbound: this.#northbound },
      ...{ logging: this.#logging, telemetry: () => this.#telemetry, receivers: () => this.#receivers },
    };
    return new ConfigChanges({
      file: this.#file,
      inTurn: (run) => this.#coordinator.inTurn(run),
      follow: (before) => followConfig(before, followers),
      compare: (before, after) => compareConfigs(before, after, parts),
      ...{ write: writeConfig, tryWrite: tryConfig },
      reloading: (run) => this.#manager.reloading(run).finally(() => this.#telemetry.look()),
      isStopping: () => this.#stopping !== undefined,
      ...{ now: () => new Date(), ...this.#common, log: this.#log },
    });
  }

  #restartMachines(): Promise<void> {
    return this.#coordinator.inTurn(async () => {
      if (this.#stopping) return;
      await this.#receivers?.restart();
      await this.#carriers.restart(this.#members.intent);
      this.#coordinator.inputsChanged();
    });
  }

  transfers(): readonly string[] {
    return this.#kernel?.dataplane.multicast?.transfers() ?? [];
  }

  stop(): Promise<void> {
    this.#stopping ??= releaseAll(
      [
        () => this.#changes.stop(),
        () => this.#telemetry.stop(),
        () => this.#stopHousekeeping?.(),
        () => this.#members.stop(),
        () => this.#kernel?.stopWatching(),
        () => this.#coordinator.stop(),
        () => this.#carriers.stop(),
        () => this.#started && !this.#carriers.bgp.carrier?.leavesPaths() && noteGobgp(this.#options.runDir, undefined),
        () => this.#coordinator.close(),
        () => this.#receivers?.stop(),
        () => this.#receivers?.letGo(),
        () => this.#recording.stop(),
        () => this.#northbound.close(),
        () => this.#kernel?.close(),
        () => this.#receivers?.close(),
        () => this.#poller?.close(),
        () => this.#releaseRunDir?.(),
        () => this.#releaseNamespace?.(),
      ],
      (error) => this.#unexpected(error),
    );
    return this.#stopping;
  }

  /** Packets that arrived at these ports, or whose source is behind them, were rejected. */
  #doubted(ports: readonly number[]): void {
    if (this.#corePorts.doubted(ports)) this.#coordinator.inputsChanged();
  }

  #createTelemetry(): Telemetry {
    const parts = {
      ...{ path: this.#options.file, file: this.#file, members: this.#members, table: this.#table },
      ...{ coordinator: this.#coordinator, carriers: this.#carriers, northbound: this.#northbound, lost: this.#lost },
      ...{ work: this.#work, counters: this.#counters, startedAt: this.#startedAt, started: () => this.#started },
      recording: this.#recording.recorder,
      kernel: () => this.#kernel,
      receivers: () => this.#receivers,
      configuration: () => this.#changes.state(),
    };
    return new Telemetry(parts, { ...this.#common, onError: (error) => this.#unexpected(error) });
  }

  #openNorthbound(): Promise<void> {
    return this.#northbound.open(this.#file.intent, {
      source: this.#telemetry.state,
      work: this.#work,
      actions: {
        reload: () => this.reload(),
        set: (changes) => this.#members.set(changes),
        config: this.#changes,
        logLevels: this.#logging.levels.change,
        recording: this.#recording,
        release: (which) => this.#receivers?.release(which) ?? 0,
        restartGroup: (group) => restartGroup(group, this.#restartOptions),
      },
      log: this.#logging.component('northbound'),
      count: this.#counters.count,
    });
  }

  /** Of groups' streams. */
  get #restartOptions() {
    const restart = (group: string): boolean => this.#kernel?.dataplane.multicast?.restart(group) ?? false;
    return { restart, count: this.#counters.count, log: this.#log };
  }

  #unexpected(error: unknown): void {
    this.#counters.count('daemon.unexpected-error');
    this.#log.error({ error: error instanceof Error ? error.stack : String(error) }, 'unexpected error');
  }
}
