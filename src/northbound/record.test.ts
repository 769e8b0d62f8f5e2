// cnpd.v1.Control/Record on a socket, and `cnpctl record` with it.
import { expect, test } from 'vitest';
import { RECORDING_LIMITS, type Recording, type RecordingStatus } from '../model/recording.ts';
import { failing, fakeCnpd, run } from '../cli/fake-cnpd.fixture.ts';
import { exampleState } from './state.fixture.ts';
import { RecordRequest_Action as Action } from './gen/cnpd/v1/control_pb.js';
import { type RecordAction, recordRequest, recordingStatus } from './record-client.ts';
import { recordCall } from './control.ts';
import { recordHandler } from './record.ts';
import { unixAccess } from './rights.ts';

const CALLER = { certificate: undefined, cancelled: { isCanceled: false } } as never;
const OFF: RecordingStatus = { state: 'off', events: 0, bytes: 0, dropped: 0, machines: [] };
const RUNNING: RecordingStatus = {
  ...{ state: 'recording', file: '/r.jsonl', startedAt: '2026-11-20T12:00:00.000Z', limitBytes: 1e6, limitSeconds: 60 },
  ...{ events: 3, bytes: 999, dropped: 0, machines: ['isis', 'holds'] },
};
function recording(more: Partial<Recording> = {}) {
  const calls: unknown[] = [];
  const fake: Recording = {
    start: async (request, restart) => (calls.push([request, restart]), RUNNING),
    stop: async () => (calls.push('stop'), OFF),
    status: () => RUNNING,
    ...more,
  };
  return { calls, actions: { recording: fake }, handle: recordHandler(fake) };
}
type Request = Parameters<ReturnType<typeof recordHandler>>[0];
const asked = (action: RecordAction): Request =>
  ({ limitBytes: 0n, limitSeconds: 0, restart: false, ...recordRequest(action) }) as Request;

test('what a client asks for arrives, with defaults; the answer comes back as it was', async () => {
  const { calls, handle } = recording();
  expect(recordingStatus(await handle(asked({ action: 'status' })))).toEqual(RUNNING);
  await handle(asked({ action: 'start', restart: true }));
  await handle(asked({ action: 'start', restart: false, limitBytes: 1e6, limitSeconds: 9 }));
  expect(recordingStatus(await handle(asked({ action: 'stop' })))).toEqual(OFF);
  const { bytes, seconds } = RECORDING_LIMITS;
  expect(calls).toEqual([
    [{ limitBytes: bytes.default, limitSeconds: seconds.default }, true],
    [{ limitBytes: 1e6, limitSeconds: 9 }, false],
    'stop',
  ]);
});

test.each<[object, string, RegExp]>([
  [{ action: 7 }, 'INVALID_ARGUMENT', /allowed: STATUS, START, STOP/],
  [{ action: Action.START, limitBytes: 1n }, 'INVALID_ARGUMENT', /limit_bytes: allowed: 65536 to 1073741824/],
  [{ action: Action.START, limitBytes: 2n ** 63n }, 'INVALID_ARGUMENT', /limit_bytes/],
  [{ action: Action.START, limitSeconds: 700_000 }, 'INVALID_ARGUMENT', /limit_seconds: allowed: 1 to 604800/],
])('refused: %o', async (fields, code, message) => {
  const request = { ...asked({ action: 'status' }), ...fields };
  await expect(recording().handle(request)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

test.each<[string | undefined, string]>([
  [undefined, 'FAILED_PRECONDITION'],
  ['EACCES', 'FAILED_PRECONDITION'],
  ['ENOSPC', 'RESOURCE_EXHAUSTED'],
])('a recording that cannot begin because of %s: %s', async (code, status) => {
  const error = Object.assign(new Error('why'), code === undefined ? {} : { code, syscall: 'open' });
  const { handle } = recording({ start: () => Promise.reject(error) });
  await expect(handle(asked({ action: 'start', restart: false }))).rejects.toMatchObject({
    code: status,
    message: 'why',
  });
});

test('a recording is shown on each socket, and begun and ended only where the configuration is changed', async () => {
  const { calls, actions } = recording();
  const served = (role: 'read' | 'set' | 'config') =>
    recordCall(unixAccess(role, '/run/cnpd/gnmi.sock'), actions)(asked({ action: 'stop' }), CALLER);
  for (const role of ['read', 'set'] as const)
    await expect(served(role)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  const shown = recordCall(unixAccess('read', '/run/cnpd/gnmi.sock'), actions);
  expect(recordingStatus(await shown(asked({ action: 'status' }), CALLER))).toEqual(RUNNING);
  expect(calls).toEqual([]);
  await served('config');
  expect(calls).toEqual(['stop']);
});

test('why it cannot begin is told', async () => {
  const { handle } = recording({ start: () => Promise.reject(new Error('ENOSPC: no space left')) });
  const start = asked({ action: 'start', restart: false });
  await expect(handle(start)).rejects.toMatchObject({ code: 'FAILED_PRECONDITION', message: 'ENOSPC: no space left' });
  await expect(recordHandler(undefined)(start)).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
});

test('cnpctl record: words, JSON and exit codes', async () => {
  const asks: RecordAction[] = [];
  const client = (status: RecordingStatus) => ({
    ...fakeCnpd(exampleState()),
    record: async (action: RecordAction) => (asks.push(action), status),
  });
  const started = await run('record start --restart --limit 10MB --time 60', client(RUNNING));
  expect(asks).toEqual([{ action: 'start', restart: true, limitBytes: 10e6, limitSeconds: 60 }]);
  expect(started).toMatchObject({ code: 0, out: expect.stringContaining('recorded  3 events, 999 bytes\n') });
  expect(started.out).toContain('machines  isis, holds');
  const failed = { ...RUNNING, state: 'failed', reason: 'ENOSPC', dropped: 5, machines: [] } as const;
  const status = await run('record status', client(failed));
  expect(status).toMatchObject({ code: 1, out: expect.stringMatching(/^the recording has ended early: ENOSPC\n/) });
  expect(status.out).toMatch(/5 events came later.*\nmachines {2}none: those that ran before are not recorded/);
  expect(JSON.parse((await run('-o json record stop', client(OFF))).out)).toEqual(OFF);
  expect((await run('record stop', client(OFF))).out).toBe('nothing is recorded\n');
  expect((await run('record stop', client({ ...RUNNING, state: 'off' }))).out).toMatch(/^the recording has ended\n/);
  for (const wrong of ['--limit 1', '--limit 2GB', '--limit 5XB', '--time 0', '--time 1.5'])
    expect((await run(`record start ${wrong}`)).code, wrong).toBe(2);
  expect((await run('record status', failing('unreachable'))).code).toBe(3);
});
