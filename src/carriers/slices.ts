// Work that is too much for one turn of the event loop is written as a generator that yields after each small step, and
// is taken a slice a turn.

/** Takes up to `steps` steps. @returns whether the work is done */
export function advance(work: Iterator<void>, steps: number): boolean {
  for (let i = 0; i < steps; i++) if (work.next().done) return true;
  return false;
}
