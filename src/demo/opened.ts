// What is open at the same time, and is closed together.

export class Opened {
  readonly #resources: { close(): void }[] = [];

  /** Returns it. */
  keep<T extends { close(): void }>(resource: T): T {
    this.#resources.push(resource);
    return resource;
  }

  /** The last one first. */
  close(): void {
    for (const resource of this.#resources.splice(0).reverse()) resource.close();
  }
}
