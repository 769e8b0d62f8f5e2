// How the event loop of the test's own process divides its work.

/**
 * Processor time of the event loop's turns, ms: all of it, and the longest turn's. What a millisecond does depends on
 * who else has the machine; their ratio does not.
 */
export function measureTurns(): { stop(): { total: number; max: number } } {
  const spent: number[] = [];
  let running = true;
  let before = process.cpuUsage();
  const turn = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    spent.push((user + system) / 1000);
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop: () => {
      running = false;
      return { total: spent.reduce((sum, ms) => sum + ms, 0), max: spent.reduce((most, ms) => Math.max(most, ms), 0) };
    },
  };
}
