/**
 * How long an adjacency may be missing before it is a problem: FRR's hello interval and its start, with a margin.
 * Milliseconds.
 */
export const ADJACENCY_PATIENCE_MS = 30_000;
