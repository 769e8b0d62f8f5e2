// Keeps a configuration in the operator's file, or makes sure that it could be. Both happen before it is in force: a
// full disk must not leave a half.
import type { ChangeTerms } from '../model/config-change.ts';
import { messageOf, systemCodeOf } from '../model/error-text.ts';
import type { ChangeRefusal } from '../model/group-change.ts';
import type { Count, Log } from '../model/log.ts';
import type { IntentFile } from './intent-file.ts';

export interface KeepingDependencies {
  readonly file: IntentFile;
  /** As writeConfig(). */
  readonly write: (file: string, text: string) => Promise<string | undefined>;
  /** As tryConfig(). */
  readonly tryWrite: (file: string, text: string) => Promise<void>;
  readonly count: Count;
  readonly log: Log;
}

export class ConfigKeeping {
  readonly #dependencies: KeepingDependencies;

  constructor(dependencies: KeepingDependencies) {
    this.#dependencies = dependencies;
  }

  /** What the terms ask for. */
  async keep(text: string, { confirmMs, isTemporary }: ChangeTerms): Promise<ChangeRefusal | undefined> {
    if (isTemporary) return undefined;
    return confirmMs === undefined ? this.write(text) : this.#tried(text);
  }

  async write(text: string): Promise<ChangeRefusal | undefined> {
    const { file, write, log } = this.#dependencies;
    try {
      const doubt = file.now() === text ? undefined : await write(file.path, text);
      if (doubt !== undefined) log.warn({ error: doubt }, 'the new file may not survive a power failure');
    } catch (error) {
      return this.#notStored(error);
    }
    file.written(text);
    return undefined;
  }

  /** A trial that could not be confirmed is not begun. */
  async #tried(text: string): Promise<ChangeRefusal | undefined> {
    const { file, tryWrite } = this.#dependencies;
    try {
      await tryWrite(file.path, text);
      return undefined;
    } catch (error) {
      return this.#notStored(error);
    }
  }

  #notStored(error: unknown): ChangeRefusal {
    const { count, log } = this.#dependencies;
    count('intent.write.failed');
    log.error({ error: messageOf(error) }, 'cannot write the file');
    return { code: 'not-stored', errors: [messageOf(error)], systemCode: systemCodeOf(error) };
  }
}
