// What cnpd asks gobgpd for about policies, read by the schemas; and whether it knows its own again in the answers.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { MARK_KIND, MARK_OUTSIDE } from '../domain-marks.ts';
import {
  AddPolicyRequestSchema,
  DefinedSetRequestSchema,
  DeleteDefinedSetRequestSchema,
  DeletePolicyRequestSchema,
  ListDefinedSetRequestSchema,
  ListDefinedSetResponseSchema,
  ListPolicyAssignmentRequestSchema,
  ListPolicyAssignmentResponseSchema,
  ListPolicyRequestSchema,
  ListPolicyResponseSchema,
  PolicyAssignmentRequestSchema,
  ResetPeerRequestSchema,
} from './gen/gobgp/messages_pb.js';
import { DIRECTION, POLICY, type PolicyData, SET, exportPolicy, importPolicy, recallPolicy } from './policy.ts';
import {
  addPolicy,
  addSet,
  assign,
  decodeAssignment,
  decodePolicy,
  decodeSet,
  deletePolicy,
  deleteSet,
  listAssignment,
  listPolicy,
  listSet,
  softReset,
} from './policy-messages.ts';
import { v3 } from './v3.ts';
import { v4 } from './v4.ts';

const OWN = { definedType: 7, name: SET.own };

describe('sets', () => {
  test('are put in with their entries; entries are taken out alone, or the set with all of them', () => {
    const request = fromBinary(DefinedSetRequestSchema, addSet(OWN, ['a', 'b']));
    expect(request.definedSet).toMatchObject({ ...OWN, list: ['a', 'b'] });
    const some = fromBinary(DeleteDefinedSetRequestSchema, deleteSet(OWN, ['a']));
    expect({ all: some.all, definedSet: some.definedSet }).toMatchObject({
      all: false,
      definedSet: { ...OWN, list: ['a'] },
    });
    const whole = fromBinary(DeleteDefinedSetRequestSchema, deleteSet(OWN));
    expect({ all: whole.all, definedSet: whole.definedSet }).toMatchObject({
      all: true,
      definedSet: { ...OWN, list: [] },
    });
  });

  test('are asked for by name, and others in the answer are passed over', () => {
    expect(fromBinary(ListDefinedSetRequestSchema, listSet(OWN))).toMatchObject(OWN);
    const answer = (name: string): Uint8Array =>
      toBinary(
        ListDefinedSetResponseSchema,
        create(ListDefinedSetResponseSchema, { definedSet: { name, list: ['x'] } }),
      );
    expect({ own: decodeSet(answer(SET.own), OWN), other: decodeSet(answer('other'), OWN) }).toEqual({
      own: ['x'],
      other: undefined,
    });
    expect(decodeSet(new Uint8Array(0), OWN)).toBeUndefined();
  });
});

describe.each([
  ['v3', v3, { invert: 2, any: 0, add: 0 }],
  ['v4', v4, { invert: 3, any: 1, add: 1 }],
] as const)('policies of %s', (_, api, numbers) => {
  const policies: readonly PolicyData[] = [exportPolicy(api), importPolicy(api, 65_001), recallPolicy(api)];
  const asked = (policy: PolicyData) => fromBinary(AddPolicyRequestSchema, addPolicy(policy)).policy!;
  /** gobgpd's answer when another client has changed what was put in. */
  const answerWith = (policy: PolicyData, change: (is: ReturnType<typeof asked>) => void = () => {}): Uint8Array => {
    const is = asked(policy);
    change(is);
    return toBinary(ListPolicyResponseSchema, create(ListPolicyResponseSchema, { policy: is }));
  };

  test('PNC-1-b: cnpd’s paths do not go to neighbors outside the domain (decision D9)', () =>
    expect(asked(exportPolicy(api))).toMatchObject({
      name: POLICY.export,
      statements: [
        {
          conditions: {
            neighborSet: { type: numbers.invert, name: SET.domain },
            largeCommunitySet: { type: numbers.any, name: SET.own },
          },
          actions: { routeAction: 2 },
        },
      ],
    }));

  test('PNC-1-b: what comes from neighbors outside is marked, by this AS, and goes where it would go', () => {
    const [statement] = asked(importPolicy(api, 65_001)).statements;
    expect(statement).toMatchObject({
      conditions: { neighborSet: { type: numbers.invert, name: SET.domain } },
      actions: {
        routeAction: 0,
        largeCommunity: { type: numbers.add, communities: [`65001:${MARK_KIND}:${MARK_OUTSIDE}`] },
      },
    });
    expect(statement!.conditions!.largeCommunitySet).toBeUndefined();
  });

  test('for a moment no path of cnpd’s goes to anybody, where gobgpd has to take back what it sent', () => {
    const [statement] = asked(recallPolicy(api)).statements;
    expect(statement).toMatchObject({
      conditions: { largeCommunitySet: { type: numbers.any, name: SET.own } },
      actions: { routeAction: 2 },
    });
    expect(statement!.conditions!.neighborSet).toBeUndefined();
  });

  test('each is known again; another’s is passed over', () => {
    for (const policy of policies) {
      expect(decodePolicy(answerWith(policy), policy)).toBe(true);
      expect(decodePolicy(answerWith({ ...policy, name: 'other' }), policy)).toBeUndefined();
    }
    expect(decodePolicy(new Uint8Array(0), policies[0]!)).toBeUndefined();
  });

  test('what v3 lists with every statement makes it no other', () =>
    expect(
      decodePolicy(
        answerWith(policies[0]!, ({ statements: [first] }) => (first!.conditions!.rpkiResult = -1)),
        policies[0]!,
      ),
    ).toBe(true));

  test('a policy without conditions and actions is as one whose are empty', () => {
    const empty: PolicyData = { name: 'x', statements: [{ name: 's', conditions: {}, actions: {} }] };
    const bare = answerWith(empty, ({ statements: [first] }) => {
      delete first!.conditions;
      delete first!.actions;
    });
    expect({ bare: decodePolicy(bare, empty), empty: decodePolicy(answerWith(empty), empty) }).toEqual({
      bare: true,
      empty: true,
    });
    for (const policy of policies)
      expect(decodePolicy(answerWith({ ...empty, name: policy.name }), policy)).toBe(false);
    const bareOnes = policies.map((policy) =>
      answerWith(policy, ({ statements: [first] }) => {
        delete first!.conditions;
        delete first!.actions;
      }),
    );
    expect(bareOnes.map((bytes, i) => decodePolicy(bytes, policies[i]!))).toEqual([false, false, false]);
  });

  type Statement = ReturnType<typeof asked>['statements'][number];
  const unknown = [{ no: 20, wireType: 0 as const, data: Uint8Array.of(1) }];
  test.each<[string, (statement: Statement) => void]>([
    ['another name', (is) => (is.name = 'other')],
    ['no set of neighbors', (is) => delete is.conditions!.neighborSet],
    ['another set of neighbors', (is) => (is.conditions!.neighborSet = { ...match(is), name: 'other' })],
    ['the set not inverted', (is) => (is.conditions!.neighborSet = { ...match(is), type: 9 })],
    ['another set of communities', (is) => (is.conditions!.largeCommunitySet = { ...match(is), name: 'other' })],
    ['another action', (is) => (is.actions!.routeAction = 1)],
    ['a condition that cnpd has no name for', (is) => (is.conditions!.$unknown = unknown)],
    ['an action that cnpd has no name for', (is) => (is.actions!.$unknown = unknown)],
  ])('%s: it is not as it should be', (_what, change) => {
    const policy = exportPolicy(api);
    expect(
      decodePolicy(
        answerWith(policy, ({ statements: [first] }) => change(first!)),
        policy,
      ),
    ).toBe(false);
  });
  const match = (is: Statement) => is.conditions!.neighborSet!;

  test.each<[string, (statement: Statement) => void]>([
    ['another mark', (is) => (is.actions!.largeCommunity!.communities = ['1:2:3'])],
    ['marks that are replaced', (is) => (is.actions!.largeCommunity!.type = 9)],
    ['no mark', (is) => delete is.actions!.largeCommunity],
  ])('%s: it is not as it should be', (_what, change) => {
    const policy = importPolicy(api, 65_001);
    expect(
      decodePolicy(
        answerWith(policy, ({ statements: [first] }) => change(first!)),
        policy,
      ),
    ).toBe(false);
  });

  test('a statement more, or one less, is not as it should be', () => {
    const policy = exportPolicy(api);
    const [statement] = policy.statements;
    for (const statements of [[], [statement!, statement!]])
      expect(decodePolicy(answerWith({ ...policy, statements }), policy)).toBe(false);
    const two: PolicyData = { ...policy, statements: [statement!, { ...statement!, name: 'second' }] };
    expect(decodePolicy(answerWith(two), two)).toBe(true);
    expect(decodePolicy(answerWith({ ...two, statements: [statement!, { ...statement!, name: 'other' }] }), two)).toBe(
      false,
    );
  });
});

test('a policy is asked for by its name, and taken out with its statements', () => {
  expect(fromBinary(ListPolicyRequestSchema, listPolicy('x')).name).toBe('x');
  expect(fromBinary(DeletePolicyRequestSchema, deletePolicy('x'))).toMatchObject({
    policy: { name: 'x' },
    preserveStatements: false,
    all: true,
  });
});

test('policies are assigned to everybody, in their order; the default action stays as it is', () => {
  const { assignment } = fromBinary(PolicyAssignmentRequestSchema, assign(DIRECTION.export, ['a', 'b']));
  expect(assignment).toMatchObject({
    name: 'global',
    direction: 2,
    policies: [{ name: 'a' }, { name: 'b' }],
    defaultAction: 0,
  });
  expect(fromBinary(ListPolicyAssignmentRequestSchema, listAssignment(DIRECTION.import))).toMatchObject({
    name: 'global',
    direction: 1,
  });
  expect(
    decodeAssignment(
      toBinary(
        ListPolicyAssignmentResponseSchema,
        create(ListPolicyAssignmentResponseSchema, { assignment: assignment! }),
      ),
    ),
  ).toEqual(['a', 'b']);
  expect(decodeAssignment(new Uint8Array(0))).toEqual([]);
});

test('a neighbor’s session is not torn down for a new policy', () =>
  expect(fromBinary(ResetPeerRequestSchema, softReset('192.0.2.1', 2))).toMatchObject({
    address: '192.0.2.1',
    soft: true,
    direction: 2,
  }));
