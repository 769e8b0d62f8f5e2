// Runs precise flow control (FCN §4.1) while the desired state has it: its machines, and the socket of ARNs.
import { FlowControl, type FlowControlSettings } from '../flow-control/flow-control.ts';
import { ArnSocket } from '../flow-control/arn-socket.edge.ts';
import { ArnAdmission } from '../flow-control/received-arn.ts';
import { UpstreamNeighbors } from '../flow-control/upstream.ts';
import type { Datagram } from '../kernel/datagram-socket.ts';
import type { Neighbors } from '../kernel/netlink/neighbors.ts';
import type { RoutesBack } from '../kernel/netlink/routes-back.ts';
import type { Poller } from '../kernel/poller.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { FlowControlView } from '../model/flow-control-state.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { Recorder } from '../model/recording.ts';
import type { Work } from '../model/work.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { FlowControlPlan } from '../plan/flow-control-plan.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import type { Hold } from '../reconcile/hold.ts';
import { silenceUs } from '../source/class-rate.ts';

interface FlowControlSupervisorDependencies {
  readonly poller: Poller;
  readonly routesBack: Pick<RoutesBack, 'routersTo'>;
  readonly neighbors: Pick<Neighbors, 'routersAt'>;
  /** Undefined: no interface has that index. */
  readonly interfaceName: (ifindex: number) => string | undefined;
  /** For tests. */
  readonly openSocket?: (...args: ConstructorParameters<typeof ArnSocket>) => Socket;
  readonly clock: Clock;
  readonly work: Work;
  readonly count: Count;
  readonly log: Log;
  readonly recorder?: Recorder | undefined;
}

type Socket = Pick<ArnSocket, 'configure' | 'send' | 'problems' | 'close'>;

/** What runs for one dataplane and one port of ARNs. */
interface Running {
  readonly hold: Hold;
  readonly udpPort: number;
  readonly bitOrder: FlowControlPlan['bitOrder'];
  readonly admission: ArnAdmission;
  readonly upstream: UpstreamNeighbors;
  readonly socket: Socket;
  readonly machine: FlowControl;
  readonly reader: { close(): void };
}

interface Wanted {
  readonly plan: FlowControlPlan;
  readonly hold: Hold;
}

const isFor = (running: Running, { plan, hold }: Wanted): boolean =>
  running.hold === hold && running.udpPort === plan.udpPort && running.bitOrder === plan.bitOrder;

/** Time until what could not be started is tried again. */
const RETRY_MS = 10_000;
/** How long traffic that found no class, and a watchdog, are problems. */
const PROBLEM_MS = 60_000;
/** Traffic that is held at a time, of all ports. */
const MOST_TRAFFIC = 4096;
/** Pauses asked of neighbors at a time. */
const MOST_ASKED = 4096;

export class FlowControlSupervisor {
  readonly #dependencies: FlowControlSupervisorDependencies;
  #wanted: Wanted | undefined;
  #running: Running | undefined;
  #stopping: Promise<void> | undefined;
  /** Why the last start failed. */
  #error: string | undefined;
  #cancelRetry: () => void = () => {};

  constructor(dependencies: FlowControlSupervisorDependencies) {
    this.#dependencies = dependencies;
  }

  /** Undefined: this router has no flow control. */
  view(): FlowControlView | undefined {
    return this.#running?.machine.view();
  }

  /** Lets all held traffic go; returns how much. */
  releaseAll(): number {
    const paused = this.view()?.paused.filter(({ state }) => state === 'paused').length ?? 0;
    this.#running?.machine.releaseAll();
    return paused;
  }

  /** Its machines begin anew: what is held, here and at neighbors, goes on. */
  async restart(): Promise<void> {
    await this.#end();
    this.#follow();
  }

  problems(): Problem[] {
    if (!this.#running) return this.#error === undefined ? [] : [notStarted(this.#error)];
    const { machine, socket } = this.#running;
    const { withoutSlot, watchdog, withoutNeighbor } = machine.happened(PROBLEM_MS);
    return [
      ...socket.problems(),
      ...(withoutSlot ? [PAUSES_FULL] : []),
      ...(watchdog ? [WATCHDOG] : []),
      ...(withoutNeighbor === undefined ? [] : [this.#withoutNeighbor(withoutNeighbor)]),
    ];
  }

  #withoutNeighbor(ifindex: number): Problem {
    const name = this.#dependencies.interfaceName(ifindex) ?? `interface ${ifindex}`;
    return {
      code: 'flow-control.no-neighbor',
      feature: 'flow-control',
      problem: `traffic from ${name} fills a queue, and no router behind ${name} is known that could be asked to pause it`,
      remedy:
        `if there is one, name its link-local address under flow-control.neighbors with interface: ${name}; cnpd finds ` +
        'it by itself where the route back has an IPv6 next hop',
    };
  }

  /** Follows a new plan. What cannot be started is a problem, and is tried again. */
  apply({ flowControl }: Pick<DesiredState, 'flowControl'>, dataplane: Pick<Dataplane, 'hold'> | undefined): void {
    const hold = dataplane?.hold;
    this.#wanted = flowControl && hold && { plan: flowControl, hold };
    this.#follow();
  }

  /** Lets neighbors and held traffic go on. */
  stop(): Promise<void> {
    this.#wanted = undefined;
    this.#endRetries();
    return this.#end();
  }

  #follow(): void {
    const [running, wanted] = [this.#running, this.#wanted];
    if (!wanted) this.#endRetries();
    if (running && !(wanted && isFor(running, wanted))) void this.#end().then(() => this.#follow());
    else if (running && wanted) this.#configure(running, wanted.plan);
    // Otherwise the former one's end calls this again: it may still use the port, and the classes.
    else if (wanted && !this.#stopping) this.#tryToStart(wanted);
  }

  #tryToStart({ plan, hold }: Wanted): void {
    try {
      this.#running = this.#start(plan, hold);
      this.#endRetries();
    } catch (thrown) {
      const { clock, count, log } = this.#dependencies;
      const error = messageOf(thrown);
      count('flow-control.not-started');
      if (this.#error === undefined) log.warn({ error }, 'precise flow control cannot be started');
      this.#endRetries();
      this.#error = error;
      this.#cancelRetry = clock.after(RETRY_MS, () => this.#follow());
    }
  }

  #endRetries(): void {
    this.#cancelRetry();
    this.#error = undefined;
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return this.#stopping;
    this.#stopping = this.#stopOne(running);
    await this.#stopping;
    this.#stopping = undefined;
  }

  #start(plan: FlowControlPlan, hold: Hold): Running {
    const { poller, clock, work, count, log, routesBack, neighbors, recorder } = this.#dependencies;
    const now = (): number => clock.now();
    const upstream = new UpstreamNeighbors({
      ...{ now, count },
      routersTo: (to, ifindex) => routesBack.routersTo(to, ifindex),
      routersAt: (ifindex) => neighbors.routersAt(ifindex),
    });
    upstream.configure(plan.neighbors);
    const admission = new ArnAdmission(admissionOf(plan));
    // First, since nothing else here can fail. Records come later.
    const reader = hold.flowControl.onFilled((filled) => machine.onFilled(filled), { poller });
    const onDatagram = (datagram: Datagram): void => this.#received(datagram);
    const { udpPort, bitOrder } = plan;
    const ports = holdPortsOf(plan);
    const { openSocket = (...args) => new ArnSocket(...args) } = this.#dependencies;
    const socket = openSocket({ port: udpPort, bitOrder, ports }, { poller, clock, count, log, onDatagram });
    const machine = new FlowControl(settingsOf(plan), {
      ...{ clock, work, count, log, recorder, dataplane: hold.flowControl },
      upstreamOf: (filled) => upstream.of(filled),
      send: (arn) => socket.send(arn),
      monotonicNs: () => process.hrtime.bigint(),
    });
    return { hold, udpPort, bitOrder, admission, upstream, socket, machine, reader };
  }

  #configure({ admission, upstream, machine, socket }: Running, plan: FlowControlPlan): void {
    socket.configure(holdPortsOf(plan));
    admission.configure(admissionOf(plan), this.#dependencies.clock.now());
    upstream.configure(plan.neighbors);
    machine.configure(settingsOf(plan));
  }

  #received({ data, from, hopLimit, ifindex }: Datagram): void {
    const running = this.#running;
    if (!running) return;
    const { clock, count } = this.#dependencies;
    count('flow-control.arn.received');
    const request = running.admission.request({ data, from: from.address, hopLimit, ifindex }, clock.now());
    if (!request.ok) return count(`flow-control.arn.${request.error}`);
    running.machine.onRequest(request.value);
  }

  /** Never rejects. */
  async #stopOne({ reader, machine, socket }: Running): Promise<void> {
    try {
      const stopping = machine.stop(); // which has told the neighbors by now
      reader.close();
      socket.close();
      await stopping;
    } catch (error) {
      this.#dependencies.log.warn({ error: messageOf(error) }, 'held traffic could not be let go');
    }
  }
}

const notStarted = (error: string): Problem => ({
  code: 'flow-control.not-started',
  feature: 'flow-control',
  problem: `precise flow control cannot be started: ${error}; no router is asked to pause, and nothing is held`,
  remedy: `cnpd tries again every ${RETRY_MS / 1000} s; look at the memory limits of its service, and at \`dmesg\``,
});

const PAUSES_FULL: Problem = {
  code: 'flow-control.pauses-full',
  feature: 'flow-control',
  problem:
    `neighbors ask to pause more flows or services than there are classes for (${MOST_TRAFFIC}, in equal parts for ` +
    'each port that holds): others are not paused',
  remedy: 'use `mode: service` or `mode: priority` under flow-control in cnpd.yaml, here and at the neighbors',
};

const WATCHDOG: Problem = {
  code: 'flow-control.watchdog',
  feature: 'flow-control',
  problem: 'a neighbor has kept traffic paused for longer than flow-control.watchdog: cnpd has let it go on',
  remedy:
    'look with `cnpctl show flow-control` at the neighbors downstream for a queue that never empties, or for routers ' +
    'that wait for each other',
};

const holdPortsOf = ({ hold }: FlowControlPlan): number[] => hold.map(({ ifindex }) => ifindex);

const admissionOf = (plan: FlowControlPlan) => ({
  mode: plan.mode,
  bitOrder: plan.bitOrder,
  acceptFrom: plan.acceptFrom.map(({ prefix }) => prefix),
  ports: new Set(holdPortsOf(plan)),
  limit: { perSecond: plan.perSecond, burst: plan.burst },
});

/** What has been paused, and its buffer, leave within this time; later the class is given up. */
const DRAIN_MS = 10_000;
const LEAST_RENEWAL_MS = 100;

function settingsOf(plan: FlowControlPlan): FlowControlSettings {
  const { mode, lineRate, buffer, above, below, longestPauseUs, watchdogMs } = plan;
  const holdPorts = new Set(holdPortsOf(plan));
  // Traffic outlives a dead agent's pause by little. Agents get no processor for some time without being dead.
  const renewMs = Math.max(LEAST_RENEWAL_MS, longestPauseUs / 1000);
  return {
    asked: {
      pauseMs: plan.pauseUs / 1000,
      limit: { perSecond: plan.perSecond, burst: plan.burst },
      mostAsked: MOST_ASKED,
    },
    paused: {
      ...{ lineRate, mostTraffic: MOST_TRAFFIC, longestPauseMs: longestPauseUs / 1000, watchdogMs },
      ...{ lifetimeMs: 5 * renewMs, renewMs, drainMs: DRAIN_MS },
      // Shorter than that, a silence may still be in force.
      leastBreakMs: (2 * silenceUs(lineRate)) / 1000,
      mostAtPort: Math.ceil(MOST_TRAFFIC / Math.max(1, holdPorts.size)),
    },
    classes: { lineRate, buffer },
    silenceUs: silenceUs(lineRate),
    watched: new Map(plan.watch.map((port) => [port.ifindex, port])),
    held: { above, below },
    holdPorts,
    mayHold: ({ traffic, egress }) => traffic.mode === mode && holdPorts.has(egress),
  };
}
