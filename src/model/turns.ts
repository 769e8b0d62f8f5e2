// Turns of the event loop for work that was cut into slices: one slice a turn, whoever it belongs to, in the order in
// which they asked. With setImmediate by itself everybody's slices fall into the same turn, and hellos and notices wait
// for their sum.

type Slice = () => void;

const waiting = new Set<{ readonly run: Slice }>();
let scheduled = false;

/**
 * Runs `slice` in a turn of its own, after those that asked before. The returned function takes it back; idempotent.
 */
export function nextTurn(slice: Slice): () => void {
  // An object of its own, because the same function may be waiting twice.
  const entry = { run: slice };
  waiting.add(entry);
  schedule();
  return () => void waiting.delete(entry);
}

function schedule(): void {
  if (scheduled || waiting.size === 0) return;
  scheduled = true;
  setImmediate(turn);
}

function turn(): void {
  scheduled = false;
  const [first] = waiting;
  if (!first) return;
  waiting.delete(first);
  // First, so that the others keep their turns when this one throws. What it asks for itself comes after them.
  schedule();
  first.run();
  schedule();
}
