// Not part of cnpctl: a cnpd that answers from a state, and a command line run against it, for the tests of this
// folder.
import { create, fromBinary } from '@bufbuild/protobuf';
import { LogLevels } from '../model/log-levels.ts';
import type { CnpdState } from '../model/state.ts';
import { eventLoopWork, finish } from '../model/work.ts';
import { type NorthboundClient, NorthboundError, pathOf } from '../northbound/client.ts';
import type { ReloadOutcome } from '../northbound/dependencies.ts';
import { exampleState, sourceOf } from '../northbound/state.fixture.ts';
import { GetRequestSchema, GetResponseSchema } from '../northbound/gen/gnmi/gnmi_pb.js';
import { answerGet } from '../northbound/get.ts';
import type { CliDependencies } from './context.ts';
import { runCnpctl } from './program.ts';

const work = eventLoopWork();

/** A cnpd with this state, without a socket in between. */
export function fakeCnpd(
  state: CnpdState,
  reload: ReloadOutcome = { ok: true, errors: [], changed: [] },
): NorthboundClient {
  const answer = async (names: readonly string[]) => {
    const request = create(GetRequestSchema, { path: [pathOf(names)] });
    const bytes = await finish(
      work,
      answerGet(request, sourceOf(state), { maxAnswerBytes: 1 << 20, now: () => 0n }),
      4,
    );
    const value = fromBinary(GetResponseSchema, bytes).notification[0]!.update[0]?.val?.value;
    return value?.case === 'jsonVal' ? (JSON.parse(Buffer.from(value.value).toString()) as unknown) : undefined;
  };
  return {
    get: answer,
    getRaw: () => Promise.reject(new Error('not used')),
    set: () => Promise.reject(new Error('not used')),
    restartGroup: () => Promise.reject(new Error('not used')),
    logLevels: async (changes) => {
      const changed = new LogLevels('info', () => {}).change(changes);
      if (!changed.ok) throw new NorthboundError('refused', 'INVALID_ARGUMENT', changed.error);
      return [...changed.value];
    },
    release: async (flow) =>
      flow ? (flow.receiverQpn === 0x1234 ? 1 : 0) : state.holds.length + state.flowControl.paused.length,
    reload: async () => reload,
    listening: async () => true,
    close: () => undefined,
  };
}

export const failing = (code: 'unreachable' | 'refused'): NorthboundClient => {
  const error = new NorthboundError(code, 'X', 'because');
  const reject = () => Promise.reject(error);
  const calls = { get: reject, getRaw: reject, set: reject, restartGroup: reject, release: reject, reload: reject };
  return { ...calls, logLevels: reject, listening: async () => false, close: () => undefined };
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
    readFile: () => undefined,
    writeFile: () => undefined,
    openRemote: async (source) => Promise.reject(new Error(`${source}: not there`)),
    ...more,
  };
  const code = await runCnpctl(line.split(' '), dependencies);
  return { code, out, err };
}
