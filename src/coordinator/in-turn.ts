// Runs what takes time one after another, in the order in which it was asked for. What fails does not stop the rest.

export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as `run` does. */
  run<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run);
    this.#last = result.catch(() => {});
    return result;
  }

  /** When everything that was asked for until now is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
