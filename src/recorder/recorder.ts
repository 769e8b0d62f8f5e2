// Records events of machines into a file, up to a limit of bytes and of time. Lines are collected, and written together
// while the machines go on. Whatever becomes of the file, no machine notices: an error ends the recording, and is
// counted and told.
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type {
  MachineName,
  Recorder,
  RecordingRequest,
  RecordingState,
  RecordingStatus,
  Tape,
} from '../model/recording.ts';
import { type Ending, FORMAT, FORMAT_VERSION, MOST_LINE_BYTES, type RecordedLine } from './format.ts';
import { toJson } from './values.ts';

/** An open file; both reject with the error of the system. */
export interface RecordingFile {
  readonly path: string;
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface RecorderDependencies {
  readonly clock: Clock;
  readonly wallClock?: () => number;
  readonly version: string;
  readonly count: Count;
  readonly log: Log;
  /** Makes a new file. @throws Error */
  readonly create: () => Promise<RecordingFile>;
}

const FLUSH_MS = 200;
/** Lines are written earlier when they have so many bytes. */
const FLUSH_BYTES = 256 << 10;
/** More than that does not wait for the disk: the recording ends. */
export const MOST_WAITING_BYTES = 64 << 20;
/** Room for the last line. */
const END_BYTES = 128;

/** CLOCK_MONOTONIC, milliseconds. */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** What is being recorded. */
interface Running {
  readonly file: RecordingFile;
  readonly request: RecordingRequest;
  readonly startedAt: string;
  readonly machines: string[];
  lines: string[];
  waitingBytes: number;
  bytes: number;
  events: number;
  writing: Promise<void> | undefined;
  cancelFlush: (() => void) | undefined;
  cancelLimit: () => void;
}

export class EventRecorder implements Recorder {
  readonly #dependencies: RecorderDependencies;
  #state: RecordingState = 'off';
  /** The latest recording, whether it goes on or not. */
  #run: Running | undefined;
  #dropped = 0;
  #reason: string | undefined;
  #starting = false;
  /** Resolves once the file of a recording that has ended is complete. */
  #ending: Promise<void> | undefined;

  constructor(dependencies: RecorderDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws Error: there is a recording already, or its file cannot be made */
  async start(request: RecordingRequest): Promise<RecordingStatus> {
    if (this.#starting || this.#state === 'recording')
      throw new Error(`${this.#run?.file.path ?? 'a recording'} is being recorded: stop it first`);
    this.#starting = true;
    try {
      this.#open(request, await this.#dependencies.create());
    } finally {
      this.#starting = false;
    }
    return this.status();
  }

  #open(request: RecordingRequest, file: RecordingFile): void {
    const { clock, wallClock = Date.now, version, log } = this.#dependencies;
    const [now, wall] = [clock.now(), wallClock()];
    this.#run = {
      ...{ file, request, startedAt: new Date(wall).toISOString(), machines: [], lines: [] },
      ...{ waitingBytes: 0, bytes: 0, events: 0, writing: undefined, cancelFlush: undefined },
      cancelLimit: clock.after(request.limitSeconds * 1000, () => this.#end('time')),
    };
    this.#state = 'recording';
    this.#dropped = 0;
    this.#reason = undefined;
    const times = { now, wall, monotonic: monotonicMs() };
    this.#write(this.#run, { format: FORMAT, version: FORMAT_VERSION, cnpd: version, ...times, ...request });
    log.info({ event: 'recorder.started', file: file.path, ...request }, 'events of machines are recorded');
  }

  /** Resolves once the file is complete. Without a recording it does nothing. */
  async stop(): Promise<RecordingStatus> {
    if (this.#state === 'recording') this.#end('stopped');
    else this.#state = 'off';
    // At a limit, it may still be written.
    await this.#ending;
    return this.status();
  }

  begin(machine: MachineName, now: number, config: unknown): Tape | undefined {
    const run = this.#run;
    if (this.#state !== 'recording' || !run) return undefined;
    const m = run.machines.push(machine);
    this.#write(run, { m, now, machine, config: toJson(config) }, true);
    return {
      event: (at, event) => this.#event(run, m, at, event),
      find: (make, shown) => {
        const result = make();
        if (this.#isOn(run)) this.#write(run, { m, found: toJson(shown ? shown(result) : result) });
        return result;
      },
    };
  }

  carrierStopped(now: number, carrier: string, holdMs: number): void {
    if (this.#run && this.#isOn(this.#run)) this.#write(this.#run, { now, stopped: carrier, holdMs });
  }

  status(): RecordingStatus {
    const run = this.#run;
    const counted = { events: run?.events ?? 0, bytes: run?.bytes ?? 0, dropped: this.#dropped };
    return {
      state: this.#state,
      ...counted,
      machines: run?.machines ?? [],
      ...(run && { file: run.file.path, startedAt: run.startedAt, ...run.request }),
      ...(this.#reason !== undefined && { reason: this.#reason }),
    };
  }

  problems(): Problem[] {
    if (this.#state !== 'failed') return [];
    return [
      {
        code: 'recorder.failed',
        feature: 'recorder',
        problem: `the recording ${this.#run!.file.path} has ended early: ${this.#reason}`,
        remedy: 'make room on its disk and begin another one; `cnpctl record stop` ends this message',
      },
    ];
  }

  #isOn(run: Running): boolean {
    return this.#run === run && this.#state === 'recording';
  }

  #event(run: Running, m: number, now: number, event: unknown): void {
    if (this.#run !== run || this.#state === 'off') return;
    if (this.#state === 'recording') this.#write(run, { m, now, event: toJson(event) }, true);
    // It may have ended with this event.
    if (this.#isOn(run)) return void run.events++;
    this.#dropped++;
    this.#dependencies.count('recorder.event.dropped');
  }

  /** @param mayEnd whether the recording may end before this line: not between an event and its findings */
  #write(run: Running, line: RecordedLine, mayEnd = false): void {
    const text = `${JSON.stringify(line)}\n`;
    const bytes = Buffer.byteLength(text);
    if (bytes > MOST_LINE_BYTES) return this.#fail(run, `an event has ${bytes} bytes, more than ${MOST_LINE_BYTES}`);
    if (mayEnd && run.bytes + bytes + END_BYTES > run.request.limitBytes) return this.#end('bytes');
    run.lines.push(text);
    run.bytes += bytes;
    run.waitingBytes += bytes;
    if (run.waitingBytes > MOST_WAITING_BYTES) return this.#fail(run, 'the disk is slower than the events');
    if (run.waitingBytes >= FLUSH_BYTES) void this.#flush(run);
    else run.cancelFlush ??= this.#dependencies.clock.after(FLUSH_MS, () => void this.#flush(run));
  }

  /** Writes until nothing waits. Never rejects. */
  #flush(run: Running): Promise<void> {
    run.cancelFlush?.();
    run.cancelFlush = undefined;
    run.writing ??= this.#writeAll(run).finally(() => (run.writing = undefined));
    return run.writing;
  }

  async #writeAll(run: Running): Promise<void> {
    try {
      while (run.lines.length > 0) {
        const [text, bytes] = [run.lines.join(''), run.waitingBytes];
        run.lines = [];
        await run.file.append(text);
        run.waitingBytes -= bytes;
      }
    } catch (error) {
      run.lines = [];
      this.#fail(run, messageOf(error));
    }
  }

  #end(end: Ending): void {
    this.#ending = this.#complete(end);
  }

  async #complete(end: Ending): Promise<void> {
    const run = this.#run;
    if (!run || !this.#isOn(run)) return;
    // From here on nothing else is recorded.
    this.#state = end === 'stopped' ? 'off' : 'limit';
    run.cancelLimit();
    this.#write(run, { now: this.#dependencies.clock.now(), end, events: run.events });
    if (end !== 'stopped') this.#reason = `limit of ${end} reached`;
    // What is being written now may be what was there before the last line.
    while (run.lines.length > 0) await this.#flush(run);
    await run.writing;
    if (!this.#hasFailed(run)) await this.#close(run);
    if (this.#hasFailed(run)) return;
    const { events, bytes } = run;
    this.#dependencies.log.info(
      { event: 'recorder.ended', file: run.file.path, end, events, bytes },
      'recording ended',
    );
  }

  #hasFailed(run: Running): boolean {
    return this.#run === run && this.#state === 'failed';
  }

  /** The file stays without its last line: a replay says so. */
  #fail(run: Running, reason: string): void {
    if (this.#run !== run || this.#state === 'failed') return;
    this.#state = 'failed';
    this.#reason = reason;
    run.cancelLimit();
    run.cancelFlush?.();
    run.lines = [];
    const { count, log } = this.#dependencies;
    count('recorder.failed');
    log.warn({ event: 'recorder.failed', file: run.file.path, error: reason }, 'the recording has ended early');
    void this.#close(run);
  }

  async #close(run: Running): Promise<void> {
    try {
      await run.file.close();
    } catch (error) {
      this.#fail(run, messageOf(error));
    }
  }
}
