// The objects of a running lab, on disk: /run/cnpd-lab/<lab>/state.json, written before the first namespace exists, so
// that `down` finds everything also after a crash. The directory is a tmpfs of its own, which also has the upper layers
// of the nodes' overlays.
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from './processes.ts';

export const LABS_DIRECTORY = '/run/cnpd-lab';

export interface LabState {
  readonly version: 1;
  readonly lab: string;
  /** Absolute path of the topology. */
  readonly file: string;
  readonly status: 'starting' | 'up';
  /** The process that brought it up, which may have ended since. */
  readonly owner: ProcessIdentity;
  readonly nodes: readonly NodeState[];
  /** Processes of the lab itself, outside every node's mount namespace. */
  readonly helpers: readonly (ProcessIdentity & { readonly role: string })[];
}

export interface NodeState {
  readonly name: string;
  readonly container: string;
  readonly env: Readonly<Record<string, string>>;
  readonly interfaces: readonly string[];
  /** Of its mount and UTS namespaces; absent until it is started. */
  readonly holder?: ProcessIdentity;
}

export const labDirectory = (lab: string): string => join(LABS_DIRECTORY, lab);
export const netnsPath = (container: string): string => join('/run/netns', container);
export const logPath = (lab: string, name: string): string => join(labDirectory(lab), 'log', `${name}.log`);

const stateFile = (lab: string): string => join(labDirectory(lab), 'state.json');

export function writeState(state: LabState): void {
  mkdirSync(labDirectory(state.lab), { recursive: true });
  const file = stateFile(state.lab);
  // Renamed into place: a crash leaves the old state or the new one.
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

/** Undefined when the lab has no state, or none that can be read. */
export function readState(lab: string): LabState | undefined {
  try {
    const state = JSON.parse(readFileSync(stateFile(lab), 'utf8')) as LabState;
    return state.version === 1 ? state : undefined;
  } catch {
    return undefined;
  }
}

/** Names of the labs that have left anything here. */
export const knownLabs = (): string[] => (existsSync(LABS_DIRECTORY) ? readdirSync(LABS_DIRECTORY) : []);

/** Removes the empty directories of a lab, and the parent's when it was the last one. */
export function removeLabDirectory(lab: string): void {
  for (const directory of [labDirectory(lab), LABS_DIRECTORY]) {
    try {
      rmdirSync(directory);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'ENOTEMPTY' && directory === LABS_DIRECTORY) return; // other labs
      if (code !== 'ENOENT') throw error;
    }
  }
}
