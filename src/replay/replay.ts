// Runs the machines of a recording with what was recorded. It needs no kernel, no network and no rights.
import { Learning } from '../coordinator/learning.ts';
import { LearnedTable } from '../learned/table.ts';
import type { CarrierName } from '../model/advertisement.ts';
import { type Clock, manualClock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import { MACHINES, type MachineName } from '../model/recording.ts';
import { FairWork } from '../model/work.ts';
import { ENDINGS, type Header } from '../recorder/format.ts';
import { fromJson } from '../recorder/values.ts';
import { CUT_OFF, type Line, ReplayError, headerOf, linesOf, numberIn } from './lines.ts';
import { type AnyEvent, type Handle, MACHINE_ROWS, type Machines, type World } from './machines.ts';

/** A machine is replaced when its carrier begins anew. */
const MOST_MACHINES = 10_000;

/** The state at the end of a recording. */
export interface Replayed {
  readonly header: Header;
  readonly machines: Machines;
  readonly table: LearnedTable;
  readonly counters: ReadonlyMap<string, number>;
  /** Of the machines' clock. */
  readonly now: number;
  /** Events of each machine, by name. */
  readonly events: ReadonlyMap<MachineName, number>;
  /** Why the recording ended; undefined: that is not known, it is a part. */
  readonly end: string | undefined;
}

/** @param partial accepts a recording without its end. @throws ReplayError, Error of the system */
export function replay(path: string, { partial = false }: { readonly partial?: boolean } = {}): Replayed {
  const lines = linesOf(path, partial);
  const first = lines.next();
  const run = new Run(headerOf(first.done ? undefined : first.value));
  for (let line = lines.next(); !line.done; line = lines.next()) run.take(line.value);
  return run.finish(partial);
}

/** An event, and what was found while it was handled. */
interface Pending {
  readonly line: Line;
  readonly m: number;
  readonly found: unknown[];
  readonly run: () => void;
}

interface Running {
  readonly name: MachineName;
  handle: Handle;
}

class Run {
  readonly #header: Header;
  readonly #clock: Clock & { advance(ms: number): void };
  readonly #turns: (() => void)[] = [];
  readonly #table: LearnedTable;
  readonly #learning: Learning;
  readonly #machines: Machines = {};
  readonly #running: Running[] = [];
  readonly #counters = new Map<string, number>();
  readonly #events = new Map<MachineName, number>();
  readonly #holdMs: Partial<Record<CarrierName, number>> = {};
  #now: number;
  #pending: Pending | undefined;
  #end: { readonly reason: string; readonly line: number } | undefined;
  #lines = 1;

  constructor(header: Header) {
    this.#header = header;
    this.#now = header.now;
    this.#clock = manualClock(header.now);
    const count = this.#count;
    const wallClock = (): number => this.#header.wall + this.#now - this.#header.now;
    this.#table = new LearnedTable({ holdMs: this.#holdMs }, { clock: { now: () => this.#now }, wallClock, count });
    const nothing = (): void => {};
    this.#learning = new Learning({
      ...{ table: this.#table, clock: { now: () => this.#now, after: (ms, run) => this.#clock.after(ms, run) } },
      work: new FairWork({ now: () => 0, schedule: (turn) => void this.#turns.push(turn) }),
      ...{ onSenders: nothing, onRouters: nothing, onTopology: nothing, onSettled: nothing },
    });
  }

  readonly #count = (name: string, by = 1): void => void this.#counters.set(name, (this.#counters.get(name) ?? 0) + by);

  take(line: Line): void {
    this.#lines = line.number;
    if (this.#end) throw new ReplayError(line.number, `the recording ended in line ${this.#end.line}`);
    const { fields } = line;
    if ('found' in fields) return this.#found(line);
    this.#settle();
    this.#pass(line);
    if ('machine' in fields) this.#begin(line);
    else if ('event' in fields) this.#event(line);
    else if ('stopped' in fields) this.#stopped(line);
    else if ('end' in fields) this.#ends(line);
    else throw new ReplayError(line.number, 'it is neither a machine, an event, a finding nor an end');
  }

  finish(partial: boolean): Replayed {
    if (!this.#end && !partial) throw new ReplayError(this.#lines, `it is the last one, and no end: ${CUT_OFF}`);
    try {
      this.#settle();
    } catch (error) {
      // The findings of the last event may be missing.
      if (!partial) throw error;
    }
    return {
      ...{ header: this.#header, machines: this.#machines, table: this.#table, counters: this.#counters },
      ...{ now: this.#now, events: this.#events, end: this.#end?.reason },
    };
  }

  #pass(line: Line): void {
    const now = numberIn(line, 'now');
    if (now < this.#now) throw new ReplayError(line.number, 'now: time goes back');
    this.#clock.advance(now - this.#now);
    this.#now = now;
    this.#turn();
  }

  #turn(): void {
    for (let turn = this.#turns.shift(); turn; turn = this.#turns.shift()) turn();
  }

  #found(line: Line): void {
    if (!this.#pending || this.#pending.m !== line.fields['m'])
      throw new ReplayError(line.number, 'a finding stands behind the event in which it was made');
    this.#pending.found.push(line.fields['found']);
  }

  /** Hands over what is complete now that another line has come. */
  #settle(): void {
    const pending = this.#pending;
    if (!pending) return;
    const { line, found, m } = pending;
    const { name } = this.#running[m - 1] ?? { name: 'the machine' };
    try {
      pending.run();
    } catch (error) {
      this.#pending = undefined;
      if (error instanceof ReplayError) throw error;
      throw new ReplayError(line.number, `${name} cannot take it: ${messageOf(error)}`);
    }
    this.#pending = undefined;
    if (found.length > 0) throw new ReplayError(line.number, `${name} did not ask for ${found.length} findings`);
    this.#turn();
  }

  readonly #find = (): unknown => {
    const { line, found } = this.#pending ?? {};
    if (!found?.length) throw new ReplayError(line?.number, 'a finding is asked for that was not recorded behind it');
    return fromJson(found.shift(), this.#find);
  };

  #begin(line: Line): void {
    const name = line.fields['machine'];
    if (!MACHINES.includes(name as MachineName))
      throw new ReplayError(line.number, 'machine: there is none of that name');
    const m = this.#running.length + 1;
    if (line.fields['m'] !== m || m > MOST_MACHINES) throw new ReplayError(line.number, `m: ${m} is expected`);
    const running: Running = { name: name as MachineName, handle: () => {} };
    this.#running.push(running);
    const findings = { find: () => this.#find() as never };
    this.#pending = { line, m, found: [], run: () => this.#create(running, line, findings) };
  }

  #create(running: Running, line: Line, findings: { find: () => never }): void {
    const config = fromJson(line.fields['config'], this.#find);
    const world: World = {
      sink: this.#learning,
      count: this.#count,
      declare: (origination) => (this.#table.declareOwn(origination), this.#learning.changed()),
      hold: (carrier, ms) => this.#hold(carrier, ms),
    };
    const { machine, handle } = MACHINE_ROWS[running.name].create(config, findings, this.#now, world);
    running.handle = handle;
    Object.assign(this.#machines, { [running.name]: machine });
  }

  #hold(carrier: CarrierName, ms: number | undefined): void {
    if (typeof ms !== 'number') return;
    this.#holdMs[carrier] = ms;
    this.#table.configure({ holdMs: this.#holdMs });
  }

  #event(line: Line): void {
    const m = numberIn(line, 'm');
    const running = this.#running[m - 1];
    if (!running) throw new ReplayError(line.number, `m: machine ${m} has not begun`);
    this.#pending = { line, m, found: [], run: () => this.#handle(running, line) };
  }

  #handle({ name, handle }: Running, line: Line): void {
    const event = fromJson(line.fields['event'], this.#find) as AnyEvent | null;
    if (!MACHINE_ROWS[name].events.includes(event?.type as string))
      throw new ReplayError(line.number, `event: ${name} has no such event`);
    this.#events.set(name, (this.#events.get(name) ?? 0) + 1);
    handle(event!, this.#now);
  }

  #stopped(line: Line): void {
    const { stopped } = line.fields;
    if (stopped !== 'isis' && stopped !== 'ospfv2' && stopped !== 'ospfv3' && stopped !== 'bgp')
      throw new ReplayError(line.number, 'stopped: there is no carrier of that name');
    this.#learning.carrierStopped(stopped, numberIn(line, 'holdMs'));
    this.#turn();
  }

  #ends(line: Line): void {
    const reason = line.fields['end'];
    if (!ENDINGS.includes(reason as never)) throw new ReplayError(line.number, `end: allowed: ${ENDINGS.join(', ')}`);
    const counted = [...this.#events.values()].reduce((sum, events) => sum + events, 0);
    if (line.fields['events'] !== counted)
      throw new ReplayError(line.number, `events: ${counted} came before: some are missing, or too many`);
    this.#end = { reason: reason as string, line: line.number };
  }
}
