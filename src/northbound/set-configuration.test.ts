// gNMI Set of the configuration, without a server: what is asked of whoever applies it, and what is refused.
import { type MessageInitShape, create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import type { ConfigActions } from '../model/config-change.ts';
import { fail, ok } from '../model/result.ts';
import { type ConfigCall, fakeConfig } from './config.fixture.ts';
import { ExtensionSchema, type Path, SetRequestSchema, TypedValueSchema } from './gen/gnmi/gnmi_pb.js';
import { groupPath, pathOf } from './client.ts';
import { type Access, certificateAccess, plaintextAccess, unixAccess } from './rights.ts';
import { answerSet } from './set.ts';

const CONFIGURATION = ['cnpd', 'configuration'];
const at = (...names: string[]): Path => pathOf([...CONFIGURATION, ...names]);
const json = (value: unknown) =>
  create(TypedValueSchema, { value: { case: 'jsonIetfVal', value: Buffer.from(JSON.stringify(value)) } });
const to = (value: unknown, ...names: string[]) => ({ path: at(...names), val: json(value) });
const withCommit = (action: object) => [
  create(ExtensionSchema, { ext: { case: 'commit', value: { id: 'x', action } as never } }),
];
const GROUP = { path: groupPath({ group: '2001:db8:aa::1' }), val: json({}) };

async function set(
  request: MessageInitShape<typeof SetRequestSchema>,
  config?: ConfigActions,
  access: Access = unixAccess('config', '/run/gnmi.sock'),
) {
  const calls: ConfigCall[] = [];
  const certificate = { subject: { CN: 'operator' } } as never;
  const done = answerSet(create(SetRequestSchema, request), {
    now: () => 1n,
    apply: async () => ok(undefined),
    config: config ?? fakeConfig(calls),
    checkWrite: (path) => access.checkWrite(path, certificate),
  });
  const answer = await done.then(
    ({ response }) => response.map(({ op }) => op),
    (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
  );
  return { answer, calls };
}

describe('gNMI Set of the configuration', () => {
  test('delete, replace and update in this order, all in one change', async () => {
    const { answer, calls } = await set({
      update: [to({ level: 'warn' }, 'log')],
      replace: [to([{ interface: 'eth2' }], 'ports')],
      delete: [at('stamp')],
    });
    expect(answer).toHaveLength(3);
    expect(calls).toEqual([
      {
        call: 'set',
        terms: {},
        changes: [
          { operation: 'delete', section: 'stamp' },
          { operation: 'replace', section: 'ports', value: [{ interface: 'eth2' }] },
          { operation: 'update', section: 'log', value: { level: 'warn' } },
        ],
      },
    ]);
  });

  test('the whole, and `persistent` in it or beside it', async () => {
    const whole = await set({ replace: [to({ 'cnpd:persistent': false, router: { name: 'r' } })] });
    expect(whole.calls).toEqual([
      {
        call: 'set',
        terms: { isTemporary: true },
        changes: [{ operation: 'replace', value: { router: { name: 'r' } } }],
      },
    ]);
    const val = create(TypedValueSchema, { value: { case: 'boolVal', value: false } });
    const beside = await set({ update: [to({ level: 'warn' }, 'log'), { path: at('persistent'), val }] });
    expect(beside.calls[0]).toMatchObject({ terms: { isTemporary: true }, changes: [{ section: 'log' }] });
    expect((await set({ update: [to(true, 'persistent')] })).calls).toEqual([{ call: 'set', terms: {}, changes: [] }]);
    expect((await set({ update: [to('no', 'persistent')] })).answer).toMatch(/^INVALID_ARGUMENT: .*true or false/);
  });

  test('what is no JSON is not quoted: it may have a key', async () => {
    for (const text of ['{"stamp":{"hmac-key": KEYOFALL}}', '{"stamp":{"hmac-key":"KEYOFALL" x}}']) {
      const val = create(TypedValueSchema, { value: { case: 'jsonVal', value: Buffer.from(text) } });
      const { answer } = await set({ replace: [{ path: at(), val }] });
      expect(answer).toMatch(/^INVALID_ARGUMENT: .*the value is no JSON/);
      expect(answer).not.toMatch(/KEY/);
    }
  });

  test('the extension Commit: on trial, confirmed, taken back, with another time', async () => {
    const changes = { update: [to({ level: 'warn' }, 'log')] };
    const rollbackDuration = { seconds: 90n, nanos: 500_000_000 };
    const commit = await set({ ...changes, extension: withCommit({ case: 'commit', value: { rollbackDuration } }) });
    expect(commit.calls).toMatchObject([{ call: 'set', terms: { id: 'x', confirmMs: 90_500 } }]);
    const standard = await set({ ...changes, extension: withCommit({ case: 'commit', value: {} }) });
    expect(standard.calls).toMatchObject([{ terms: { confirmMs: 600_000 } }]);
    for (const [kind, call] of [
      ['confirm', { call: 'confirm', id: 'x' }],
      ['cancel', { call: 'rollBack', id: 'x' }],
      ['setRollbackDuration', { call: 'extend', id: 'x', confirmMs: 600_000 }],
    ] as const) {
      expect((await set({ extension: withCommit({ case: kind, value: {} }) })).calls).toEqual([call]);
      const both = await set({ ...changes, extension: withCommit({ case: kind, value: {} }) });
      expect([both.calls, both.answer]).toEqual([[], expect.stringContaining('stands alone')]);
    }
  });

  const FAR = { seconds: 1n << 40n, nanos: 0 };
  test.each<[string, object, RegExp]>([
    ['nothing at all', {}, /^INVALID_ARGUMENT: the request has no delete/],
    ['with members of groups', { update: [to({}, 'log'), GROUP] }, /^INVALID_ARGUMENT: .*not both/],
    [
      'members of groups on trial',
      { update: [GROUP], extension: withCommit({ case: 'commit', value: {} }) },
      /not both/,
    ],
    ['a place in a section', { update: [to('x', 'log', 'level')] }, /^NOT_FOUND: .*nothing is below a leaf/],
    ['a section that is not there', { update: [to({}, 'logs')] }, /^NOT_FOUND: .*known here: persistent, router/],
    ['a wildcard', { delete: [at('*')] }, /^INVALID_ARGUMENT: .*wildcards/],
    [
      'no JSON',
      { update: [{ path: at('log'), val: create(TypedValueSchema, { value: { case: 'stringVal', value: 'x' } }) }] },
      /json_ietf_val/,
    ],
    [
      'another extension',
      {
        update: [to({}, 'log')],
        extension: [create(ExtensionSchema, { ext: { case: 'history', value: new Uint8Array() } })],
      },
      /^UNIMPLEMENTED: the extension history/,
    ],
    [
      'a time that is too long',
      { extension: withCommit({ case: 'commit', value: { rollbackDuration: FAR } }) },
      /^INVALID_ARGUMENT: .*24 h/,
    ],
    [
      'a commit without an action',
      { extension: withCommit({ case: undefined }) },
      /^INVALID_ARGUMENT: commit: commit, confirm/,
    ],
  ])('refused: %s', async (_, request, message) => {
    const { answer, calls } = await set(request, undefined, {
      ...unixAccess('config', '/run/gnmi.sock'),
      checkWrite: () => undefined,
    });
    expect(answer).toMatch(message);
    expect(calls).toEqual([]);
  });

  test.each([
    ['invalid', 'INVALID_ARGUMENT'],
    ['conflict', 'FAILED_PRECONDITION'],
    ['full', 'RESOURCE_EXHAUSTED'],
    ['stopping', 'UNAVAILABLE'],
  ] as const)('a refusal that is %s is %s', async (code, name) => {
    const config = { ...fakeConfig(), set: async () => fail({ code, errors: ['a: x', 'b: y'] }) };
    expect((await set({ update: [to({}, 'log')] }, config)).answer).toBe(`${name}: a: x; b: y`);
  });

  test.each([
    ['ENOSPC', 'RESOURCE_EXHAUSTED'],
    ['EDQUOT', 'RESOURCE_EXHAUSTED'],
    ['EMFILE', 'RESOURCE_EXHAUSTED'],
    ['EPERM', 'FAILED_PRECONDITION'],
    ['EACCES', 'FAILED_PRECONDITION'],
    ['EROFS', 'FAILED_PRECONDITION'],
    ['EBUSY', 'FAILED_PRECONDITION'],
    ['EIO', 'INTERNAL'],
    [undefined, 'INTERNAL'],
  ])('a file that cannot be written because of %s is %s', async (systemCode, name) => {
    const config = {
      ...fakeConfig(),
      set: async () => fail({ code: 'not-stored' as const, errors: ['x'], systemCode }),
    };
    expect((await set({ update: [to({}, 'log')] }, config)).answer).toBe(`${name}: x`);
  });
});

describe('who may change the configuration', () => {
  const rights = (...write: string[]) => certificateAccess([{ name: 'operator', read: [], write }]);
  const LOG = { update: [to({ level: 'warn' }, 'log')] };
  test.each<[string, Access, boolean]>([
    ['the socket of the configuration', unixAccess('config', '/run/gnmi.sock'), true],
    ['the socket of Set', unixAccess('set', '/run/gnmi.sock'), false],
    ['the socket that reads', unixAccess('read', '/run/gnmi.sock'), false],
    ['plaintext', plaintextAccess, false],
    ['a right to it', rights('/cnpd/configuration'), true],
    ['a right to everything', rights('/cnpd'), true],
    ['a right to groups', rights('/cnpd/groups'), false],
    ['a right to a section alone', rights('/cnpd/configuration/log'), false],
    ['a right of the same beginning', rights('/cnpd/config'), false],
  ])('%s', async (_, access, may) => {
    // The right to a section is not enough: a section can be valid only together with the others.
    const { answer, calls } = await set(LOG, undefined, access);
    expect(calls.length > 0).toBe(may);
    if (!may) expect(answer).toMatch(/^PERMISSION_DENIED: /);
  });

  test('members of groups are not set where the configuration is', async () => {
    expect((await set({ update: [GROUP] }, undefined, unixAccess('set', '/run/gnmi.sock'))).answer).toHaveLength(1);
    expect((await set({ update: [GROUP] })).answer).toBe('PERMISSION_DENIED: this is changed on /run/gnmi-set.sock');
  });

  test.each([
    ['Reload', 'write', 'configuration', { read: true, set: true, config: true, plain: false }],
    ['Apply', 'write', 'configuration', { read: false, set: false, config: true, plain: false }],
    ['Plan', 'read', 'configuration', { read: true, set: true, config: true, plain: true }],
    ['LogLevels', 'write', 'status', { read: true, set: true, config: true, plain: false }],
    ['RestartGroup', 'write', 'groups', { read: false, set: true, config: false, plain: false }],
  ] as const)('Control/%s', (name, what, section, may) => {
    const call = { name, what, path: ['cnpd', section] };
    const isAllowed = (access: Access): boolean => {
      try {
        access.checkControl(call, { subject: { CN: 'operator' } } as never);
        return true;
      } catch {
        return false;
      }
    };
    const [read, set_, config] = (['read', 'set', 'config'] as const).map((role) =>
      isAllowed(unixAccess(role, '/run/gnmi.sock')),
    );
    expect({ read, set: set_, config, plain: isAllowed(plaintextAccess) }).toEqual(may);
    expect(isAllowed(certificateAccess([{ name: 'operator', read: [`/cnpd/${section}`], write: [] }]))).toBe(
      what === 'read',
    );
    expect(isAllowed(certificateAccess([{ name: 'operator', read: [], write: [`/cnpd/${section}`] }]))).toBe(
      what === 'write',
    );
  });
});
