// Not part of the daemon: a Holo whose configuration, state and refusals are the test's. What it answers was recorded
// from Holo 0.9.0 (recorded.json): IS-IS, OSPFv2 and OSPFv3 on an interface of cnpd each.
import recorded from './recorded.json' with { type: 'json' };
import { HoloError, type HoloNorthbound, type Step } from './northbound.ts';
import { type Tree, merged } from './tree.ts';

export const RECORDED = recorded as unknown as {
  readonly version: string;
  readonly config: Tree;
  readonly states: Readonly<Record<string, Tree>>;
};

/** Counterpart of RECORDED: what cnpd.yaml has to say for nothing to be missing. */
export const BESIDE_RECORDED = `
router: { name: r1, suite: holo }
isis: { system-id: 0000.0000.c001, area: 49.0001 }
ospfv2: { router-id: 192.0.2.201, hello-interval: 3s, dead-interval: 12s, areas: [{ area: 0 }] }
ospfv3: { router-id: 192.0.2.201, hello-interval: 3s, dead-interval: 12s, areas: [{ area: 0 }] }
`;

export class FakeHolo implements HoloNorthbound {
  running = RECORDED.config;
  readonly committed: Tree[] = [];
  readonly validated: Tree[] = [];
  /** What the next change is refused with. */
  refusal: string | undefined;
  silent = false;
  /** Accepts changes, and makes none. */
  deaf = false;
  state: (name: string) => Tree = (name) => RECORDED.states[name] ?? {};

  version(): Promise<string> {
    return this.silent
      ? Promise.reject(new HoloError('unreachable', 'ECONNREFUSED'))
      : Promise.resolve(RECORDED.version);
  }
  config(): Promise<Tree> {
    return Promise.resolve(this.running);
  }
  interfaceState(path: readonly Step[]): Promise<Tree> {
    const last = path.at(-1)!;
    if (last[0] !== 'interface') throw new Error(`${JSON.stringify(path)} is more than an interface`);
    return Promise.resolve(this.state((last[1] as Record<string, string>)['name']!));
  }
  validate(config: Tree): Promise<void> {
    return this.#take(() => this.validated.push(config));
  }
  commit(config: Tree): Promise<void> {
    return this.#take(() => {
      this.committed.push(config);
      if (!this.deaf) this.running = merged(this.running, config);
    });
  }
  close(): void {}

  #take(how: () => void): Promise<void> {
    if (this.refusal !== undefined) return Promise.reject(new HoloError('refused', this.refusal));
    how();
    return Promise.resolve();
  }
}
