// What `npm run demo` can show: a topology that is up, and what is done on it.
import type { Lab } from '../lab/lab.ts';

export interface Stage {
  readonly signal: AbortSignal;
  /** A line for who watches. */
  readonly say: (text: string) => void;
  /** Directory of the report. */
  readonly output: string;
  readonly startedAt: Date;
}

export interface Show {
  readonly name: string;
  /** For a line of text: who is connected to whom. */
  readonly path: string;
  /** The topology file. */
  readonly file: string;
  /** Nodes on which cnpd runs. */
  readonly routers: readonly string[];
  /** @returns what did not go as claimed, as sentences */
  play(lab: Lab, stage: Stage): Promise<readonly string[]>;
}
