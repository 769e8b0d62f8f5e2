// Not part of cnpctl: a cnpd that answers from a state, and a command line run against it, for the tests of this
// folder.
import type { ConfigOutcome } from '../model/config-change.ts';
import { LogLevels } from '../model/log-levels.ts';
import type { CnpdState } from '../model/state.ts';
import { eventLoopWork } from '../model/work.ts';
import { type NorthboundClient, NorthboundError } from '../northbound/client.ts';
import { exampleState, sourceOf } from '../northbound/state.fixture.ts';
import { localGet } from '../northbound/local.ts';
import type { CliDependencies } from './context.ts';
import { runCnpctl } from './program.ts';

const work = eventLoopWork();

/** A cnpd with this state, without a socket in between. */
export function fakeCnpd(
  state: CnpdState,
  reload: ConfigOutcome = { ok: true, errors: [], changed: [] },
): NorthboundClient {
  return {
    get: (names) => localGet(sourceOf(state), names, work),
    getRaw: () => Promise.reject(new Error('not used')),
    set: () => Promise.reject(new Error('not used')),
    restartGroup: () => Promise.reject(new Error('not used')),
    logLevels: async (changes) => {
      const changed = new LogLevels('info', () => {}).change(changes);
      if (!changed.ok) throw new NorthboundError('refused', 'INVALID_ARGUMENT', changed.error);
      return [...changed.value];
    },
    record: async () => ({ state: 'off', events: 0, bytes: 0, dropped: 0, machines: [] }),
    release: async (flow) =>
      flow ? (flow.receiverQpn === 0x1234 ? 1 : 0) : state.holds.length + state.flowControl.paused.length,
    reload: async () => reload,
    plan: async () => ({ ok: true, errors: [], changed: [], planes: [] }),
    apply: async (_, { confirmMs }) => ({
      ...reload,
      ...(confirmMs !== undefined && { confirmBy: '2026-11-20T12:01:10.000Z' }),
    }),
    confirm: async () => undefined,
    rollBack: async () => reload,
    configuration: async () => ({
      text: 'log:\n  level: info # default\n',
      tree: { log: { level: 'info' } },
      defaults: ['log.level'],
    }),
    listening: async () => true,
    close: () => undefined,
  };
}

export const failing = (code: NorthboundError['code']): NorthboundClient => {
  const error = new NorthboundError(code, 'X', 'because');
  const reject = () => Promise.reject(error);
  const calls = { get: reject, getRaw: reject, set: reject, restartGroup: reject, release: reject, reload: reject };
  const config = { plan: reject, apply: reject, confirm: reject, rollBack: reject, configuration: reject };
  return {
    ...calls,
    ...config,
    record: reject,
    logLevels: reject,
    listening: async () => false,
    close: () => undefined,
  };
};

export async function run(line: string, client = fakeCnpd(exampleState()), more: Partial<CliDependencies> = {}) {
  let [out, err] = ['', ''];
  const dependencies: CliDependencies = {
    version: '0.1.0',
    nowMs: () => Date.parse('2026-11-20T12:00:10Z'),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    color: false,
    terminal: false,
    pause: async () => false,
    connect: () => client,
    examine: async () => [],
    socketOf: async () => undefined,
    uninstall: async () => true,
    check: async () => true,
    readFile: () => undefined,
    writeFile: () => undefined,
    bundleSources: async () => Promise.reject(new Error('not used')),
    openRemote: async (source) => Promise.reject(new Error(`${source}: not there`)),
    ...more,
  };
  const code = await runCnpctl(line.split(' '), dependencies);
  return { code, out, err };
}
