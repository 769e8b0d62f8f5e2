// Runs asynchronous tasks one after another, in order of the calls. A task that fails does not stop the rest.

export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles like the task `run`. */
  run<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when all tasks so far are done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
