// Recordings of the machines' events: in force from a machine's creation on. So a recording that is to have what runs
// already begins with a restart of the machines.
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import { recordingsOf } from '../model/paths.ts';
import { RECORDING_LIMITS, type Recording, type RecordingRequest, type RecordingStatus } from '../model/recording.ts';
import { createRecordingFile } from '../recorder/file.edge.ts';
import { EventRecorder } from '../recorder/recorder.ts';
import { VERSION } from './version.ts';

interface RecordingPartOptions {
  readonly runDir: string;
  readonly stateDir?: string | undefined;
}

interface RecordingPartDependencies {
  readonly clock: Clock;
  readonly count: Count;
  readonly log: Log;
  /** All machines begin anew. */
  readonly restart: () => Promise<void>;
}

/** Carriers withdraw and advertise again: not for everybody who may read, as often as they like. */
const RESTART_EVERY_MS = 60_000;

export class RecordingPart implements Recording {
  readonly recorder: EventRecorder;
  readonly #dependencies: RecordingPartDependencies;
  #restartedAt = -Infinity;

  constructor(options: RecordingPartOptions, dependencies: RecordingPartDependencies) {
    const { clock, count, log } = dependencies;
    this.#dependencies = dependencies;
    const directory = recordingsOf(options.stateDir ?? options.runDir);
    const create = (): ReturnType<typeof createRecordingFile> => createRecordingFile(directory);
    this.recorder = new EventRecorder({ clock, count, log, create, version: VERSION });
  }

  /** From the start of the daemon, which does without where no file can be made. */
  async fromStart(): Promise<void> {
    const { bytes, seconds } = RECORDING_LIMITS;
    try {
      await this.recorder.start({ limitBytes: bytes.default, limitSeconds: seconds.default });
    } catch (thrown) {
      const { count, log } = this.#dependencies;
      count('recorder.failed');
      log.warn({ event: 'recorder.failed', error: messageOf(thrown) }, 'nothing is recorded: no file can be made');
    }
  }

  async start(request: RecordingRequest, restart: boolean): Promise<RecordingStatus> {
    const { clock, log } = this.#dependencies;
    if (restart && clock.now() < this.#restartedAt + RESTART_EVERY_MS)
      throw new Error(`machines were restarted within the last ${RESTART_EVERY_MS / 1000} s: wait, or omit --restart`);
    await this.recorder.start(request);
    if (!restart) return this.status();
    this.#restartedAt = clock.now();
    log.warn({ event: 'recorder.restart' }, 'machines begin anew, to be recorded');
    await this.#dependencies.restart();
    return this.status();
  }

  async stop(): Promise<RecordingStatus> {
    return this.recorder.stop();
  }

  status(): RecordingStatus {
    return this.recorder.status();
  }
}
