import { create, fromBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONFIG_SECTIONS, JsonText, configField } from '../model/configuration-state.ts';
import type { CnpdState, StateSource } from '../model/state.ts';
import { eventLoopWork, finish } from '../model/work.ts';
import { exampleState, sender, sourceOf } from './state.fixture.ts';
import {
  Encoding,
  type GetRequest,
  GetRequestSchema,
  GetRequest_DataType,
  GetResponseSchema,
  type Notification,
  type Path,
  PathElemSchema,
  PathSchema,
  type TypedValue,
} from './gen/gnmi/gnmi_pb.js';
import { answerGet } from './get.ts';
import { formatPath } from './paths.ts';
import { ROOT, type SchemaNode } from './schema.ts';

type Elem = string | [string, Record<string, string>];
const path = (...elems: Elem[]): Path =>
  create(PathSchema, {
    elem: elems.map((elem) =>
      create(PathElemSchema, typeof elem === 'string' ? { name: elem } : { name: elem[0], key: elem[1] }),
    ),
  });

const work = eventLoopWork();

const get = async (
  request: Partial<GetRequest>,
  source: StateSource = sourceOf(exampleState()),
  maxAnswerBytes = 1 << 20,
): Promise<Notification[]> =>
  fromBinary(
    GetResponseSchema,
    await finish(
      work,
      answerGet(create(GetRequestSchema, request as object), source, { maxAnswerBytes, now: () => 7n }),
      4,
    ),
  ).notification;

function plain(value: TypedValue | undefined): unknown {
  const v = value?.value;
  if (v?.case === 'jsonVal' || v?.case === 'jsonIetfVal') return JSON.parse(Buffer.from(v.value).toString());
  return v?.case === 'leaflistVal' ? v.value.element.map(plain) : v?.value;
}
/** Path text → value, of the first notification. */
const updates = async (...args: Parameters<typeof get>): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    (await get(...args))[0]!.update.map((update) => [formatPath(update.path!.elem), plain(update.val)]),
  );

describe('gNMI Get', () => {
  test('a container is one update with its children, in kebab-case, without what is absent', async () => {
    const answer = await updates({ path: [path('cnpd', 'isis')] });
    expect(Object.keys(answer)).toEqual(['/cnpd/isis']);
    expect(answer['/cnpd/isis']).toMatchObject({
      neighbors: [{ 'system-id': '0000.0000.0001', 'hold-time-remaining': 28 }],
      database: [{ 'lsp-id': '0000.0000.c001.00-00' }],
    });
    expect((await updates({ path: [path('cnpd', 'flows')] }))['/cnpd/flows']).toEqual([
      expect.not.objectContaining({ 'source-qpn': expect.anything() }),
    ]);
  });

  test('the root is everything, and so is no path at all', async () => {
    const all = await updates({ path: [path()] });
    expect(Object.keys(all)).toEqual(['/']);
    expect(Object.keys((all['/'] as { cnpd: object }).cnpd)).toEqual([
      'status',
      'proxies',
      'senders',
      'isis',
      'ospfv2',
      'ospfv3',
      'bgp',
      'ports',
      'flows',
      'notifications',
      'sources',
      'received',
      'holds',
      'flow-control',
      'sids',
      'groups',
      'rtt',
      'counters',
      'codepoints',
      'configuration',
    ]);
    expect(await updates({})).toEqual(all);
  });

  test('only the sections that a path reaches are asked, each once', async () => {
    const asked: string[] = [];
    await get(
      { path: [path('cnpd', 'ports'), path('cnpd', 'ports', 'packets'), path('cnpd', 'status', 'pid')] },
      sourceOf(exampleState(), asked),
    );
    expect(asked).toEqual(['ports', 'status']);
  });

  test('a list without keys is an array, an empty one is []', async () => {
    expect((await updates({ path: [path('cnpd', 'senders')] }))['/cnpd/senders']).toHaveLength(4);
    expect(await updates({ path: [path('cnpd', 'senders')] }, sourceOf({ ...exampleState(), senders: [] }))).toEqual({
      '/cnpd/senders': [],
    });
  });

  test('keys select entries, each with its full path', async () => {
    const answer = await updates({ path: [path('cnpd', ['senders', { prefix: '2001:db8::/32' }], 'proxy')] });
    expect(answer).toEqual({
      '/cnpd/senders[prefix=2001:db8::/32][carrier=isis][source=L2 0000.0000.c002.00-00]/proxy': '2001:db8:ffff::2',
      '/cnpd/senders[prefix=2001:db8::/32][carrier=isis][source=L2 0000.0000.c003.00-00]/proxy': '2001:db8:ffff::3',
    });
  });

  test('a key that is an address or a prefix may be spelled in any way', async () => {
    expect(
      Object.keys(await updates({ path: [path('cnpd', ['senders', { prefix: '2001:DB8:1:0::/64' }], 'metric')] })),
    ).toHaveLength(1);
    expect(
      Object.keys(await updates({ path: [path('cnpd', ['flows', { source: '2001:0db8:1::0:1' }])] })),
    ).toHaveLength(1);
  });

  test('* matches one level of names, and any key', async () => {
    expect(Object.keys(await updates({ path: [path('cnpd', 'isis', '*', 'level')] }))).toEqual([
      '/cnpd/isis/neighbors[interface=cnpd-isis][level=L2]/level',
      '/cnpd/isis/database[level=2][lsp-id=0000.0000.c001.00-00]/level',
    ]);
    expect(Object.keys(await updates({ path: [path('cnpd', ['senders', { prefix: '*' }])] }))).toHaveLength(4);
    expect(
      Object.keys(await updates({ path: [path('cnpd', ['senders', { prefix: '*' }], 'held-until')] })),
    ).toHaveLength(1);
  });

  test('wildcards that match nothing are an empty answer, no error', async () => {
    const empty = sourceOf({ ...exampleState(), senders: [] });
    expect(await updates({ path: [path('cnpd', ['senders', { prefix: '*' }])] }, empty)).toEqual({});
    expect(await updates({ path: [path('cnpd', 'senders', 'held-until')] }, empty)).toEqual({});
  });

  test('the prefix is joined to every path; target and origin come back; the module name may be written', async () => {
    const [notification] = await get({
      prefix: create(PathSchema, { target: 'leaf1', origin: 'cnpd', elem: path('cnpd:cnpd').elem }),
      path: [path('status', 'pid')],
    });
    expect(notification).toMatchObject({ timestamp: 7n, prefix: { target: 'leaf1', origin: 'cnpd', elem: [] } });
    expect(formatPath(notification!.update[0]!.path!.elem)).toBe('/cnpd/status/pid');
  });

  test('each path has a notification of its own, in order', async () => {
    const answer = await get({ path: [path('cnpd', 'proxies'), path('cnpd', 'status', 'pid')] });
    expect(answer.map((n) => formatPath(n.update[0]!.path!.elem))).toEqual(['/cnpd/proxies', '/cnpd/status/pid']);
  });

  test('JSON_IETF is RFC 7951: uint64 as text, the module at the top of each value', async () => {
    const port = (
      await updates({ path: [path('cnpd', ['ports', { interface: 'eth2' }])], encoding: Encoding.JSON_IETF })
    )['/cnpd/ports[interface=eth2]'];
    expect(port).toMatchObject({ 'cnpd:interface': 'eth2', 'cnpd:bytes': '9007199254740991', 'cnpd:ifindex': 3 });
    expect(await updates({ path: [path()], encoding: Encoding.JSON_IETF })).toMatchObject({
      '/': { 'cnpd:cnpd': { ports: [{ bytes: '9007199254740991' }] } },
    });
  });

  test('decimals have three fraction digits: a number in JSON, text in JSON_IETF, a double in PROTO', async () => {
    const rtt = async (encoding: Encoding) =>
      Object.values(
        await updates({ path: [path('cnpd', ['rtt', { target: '2001:db8:ffff::2' }], '*')], encoding }),
      ).slice(5, 7);
    expect(await rtt(Encoding.JSON)).toEqual([20.063, 20]);
    expect(await rtt(Encoding.JSON_IETF)).toEqual(['20.063', '20']);
    expect(await rtt(Encoding.PROTO)).toEqual([20.063, 20]);
  });

  test('PROTO is one scalar update a leaf', async () => {
    const answer = await updates({ path: [path('cnpd', 'status')], encoding: Encoding.PROTO });
    expect(answer).toEqual({
      '/cnpd/status/version': '0.1.0',
      '/cnpd/status/pid': 42n,
      '/cnpd/status/started-at': '2026-11-20T11:00:00.000Z',
      '/cnpd/status/health': 'degraded',
      '/cnpd/status/waits-for': ['isis: no neighbor is up yet on cnpd-isis'],
      '/cnpd/status/problems[feature=port eth2][problem=the root qdisc is pfifo_fast]/code': 'ports.queue-unreadable',
      '/cnpd/status/problems[feature=port eth2][problem=the root qdisc is pfifo_fast]/feature': 'port eth2',
      '/cnpd/status/problems[feature=port eth2][problem=the root qdisc is pfifo_fast]/problem':
        'the root qdisc is pfifo_fast',
      '/cnpd/status/problems[feature=port eth2][problem=the root qdisc is pfifo_fast]/remedy':
        'tc qdisc replace dev eth2 root tbf rate 1gbit burst 64k limit 1m',
      '/cnpd/status/intent/file': '/etc/cnpd/cnpd.yaml',
      '/cnpd/status/intent/loaded-at': '2026-11-20T11:00:00.000Z',
      '/cnpd/status/intent/persistent': false,
      '/cnpd/status/intent/confirm-by': '2026-11-20T12:01:00.000Z',
      '/cnpd/status/intent/rolled-back/at': '2026-11-20T11:59:00.000Z',
      '/cnpd/status/intent/rolled-back/reason': 'not-confirmed',
      '/cnpd/status/intent/last-reload/at': '2026-11-20T11:30:00.000Z',
      '/cnpd/status/intent/last-reload/ok': false,
      '/cnpd/status/intent/last-reload/errors': ['cnpd.yaml:3:1: unknown key'],
      '/cnpd/status/adopted': true,
    });
  });

  test('CONFIG is the configuration, STATE and OPERATIONAL all the rest; the other type is answered empty', async () => {
    const { CONFIG, STATE, OPERATIONAL } = GetRequest_DataType;
    const of = async (type: GetRequest_DataType, ...names: string[]) =>
      Object.keys(await updates({ path: [path(...names)], type, encoding: Encoding.PROTO }));
    expect(await of(CONFIG, 'cnpd', 'status', 'pid')).toEqual([]);
    expect(await of(STATE, 'cnpd', 'status', 'pid')).toEqual(await of(OPERATIONAL, 'cnpd', 'status', 'pid'));
    expect(await of(STATE, 'cnpd', 'configuration')).toEqual([]);
    const all = await of(GetRequest_DataType.ALL);
    const config = all.filter((text) => text.startsWith('/cnpd/configuration/'));
    expect(config).toEqual(
      ['persistent', 'router', 'ports', 'code-points'].map((name) => `/cnpd/configuration/${name}`),
    );
    expect(await of(CONFIG)).toEqual(config);
    expect(await of(CONFIG, 'cnpd', '*', 'ports')).toEqual(['/cnpd/configuration/ports']);
    expect(await of(STATE, 'cnpd')).toEqual(all.filter((text) => !config.includes(text)));
  });

  test('a section of the configuration is JSON, in each encoding', async () => {
    const ports = [{ interface: 'eth2', 'k-max': '100kB', ecn: 'on' }];
    for (const encoding of [Encoding.JSON, Encoding.JSON_IETF, Encoding.PROTO]) {
      const answer = await updates({ path: [path('cnpd', 'configuration', 'ports')], encoding });
      expect(answer).toEqual({ '/cnpd/configuration/ports': ports });
    }
    const whole = await updates({ path: [path('cnpd', 'configuration')], encoding: Encoding.JSON_IETF });
    expect(whole['/cnpd/configuration']).toMatchObject({ 'cnpd:persistent': true, 'cnpd:ports': ports });
  });

  // request → code and what the message names
  const refusals: [string, Partial<GetRequest>, string, RegExp][] = [
    [
      'an element that does not exist',
      { path: [path('cnpd', 'senderz')] },
      'NOT_FOUND',
      /^\/cnpd\/senderz: no element "senderz"; known here: status, proxies, senders/,
    ],
    [
      'an element below a leaf',
      { path: [path('cnpd', 'status', 'pid', 'x')] },
      'NOT_FOUND',
      /^\/cnpd\/status\/pid\/x: .*below a leaf/,
    ],
    [
      'an element that does not exist, below an empty list',
      { path: [path('cnpd', ['senders', { prefix: '*' }], 'x')] },
      'NOT_FOUND',
      /^\/cnpd\/senders\[prefix=\*\]\/x/,
    ],
    [
      'an entry that does not exist',
      { path: [path('cnpd', ['ports', { interface: 'eth9' }], 'bytes')] },
      'NOT_FOUND',
      /^\/cnpd\/ports\[interface=eth9\]: no such entry/,
    ],
    [
      'a leaf without a value',
      {
        path: [
          path(
            'cnpd',
            [
              'flows',
              { port: 'eth2', source: '2001:db8:1::1', destination: '2001:db8:2::1', 'destination-qpn': '4660' },
            ],
            'source-qpn',
          ),
        ],
      },
      'NOT_FOUND',
      /source-qpn: has no value/,
    ],
    [
      'a key that the list does not have',
      { path: [path('cnpd', ['ports', { name: 'x' }])] },
      'INVALID_ARGUMENT',
      /no key "name": its keys are interface/,
    ],
    ['a key on what is no list', { path: [path(['cnpd', { a: 'b' }])] }, 'INVALID_ARGUMENT', /is not a list/],
    [
      'another origin',
      { prefix: create(PathSchema, { origin: 'openconfig' }), path: [path()] },
      'INVALID_ARGUMENT',
      /origin "openconfig"/,
    ],
    [
      'a target outside the prefix',
      { path: [create(PathSchema, { target: 'x' })] },
      'INVALID_ARGUMENT',
      /target belongs in the prefix/,
    ],
    [
      'deprecated path elements',
      { path: [create(PathSchema, { element: ['cnpd'] })] },
      'INVALID_ARGUMENT',
      /deprecated/,
    ],
    ['the multi-level wildcard', { path: [path('cnpd', '...', 'bytes')] }, 'UNIMPLEMENTED', /\.\.\./],
    [
      'the encoding BYTES',
      { path: [path()], encoding: Encoding.BYTES },
      'UNIMPLEMENTED',
      /BYTES.*JSON, JSON_IETF, PROTO/,
    ],
    ['an encoding that does not exist', { path: [path()], encoding: 77 as Encoding }, 'UNIMPLEMENTED', /77/],
    [
      'another model',
      { path: [path()], useModels: [{ name: 'ietf-interfaces', version: '', organization: '' }] as never },
      'INVALID_ARGUMENT',
      /ietf-interfaces/,
    ],
    ['too many paths', { path: Array.from({ length: 65 }, () => path()) }, 'INVALID_ARGUMENT', /65 paths/],
    [
      'a path without end',
      { path: [path(...Array.from({ length: 1000 }, () => '*'))] },
      'INVALID_ARGUMENT',
      /1000 elements/,
    ],
  ];
  for (const [name, request, code, message] of refusals) {
    test(`${name}: ${code}`, async () => {
      await expect(get(request)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    });
  }

  test('a section that cannot be read is INTERNAL, by its name', async () => {
    const source = { ...sourceOf(exampleState()), flows: () => Promise.reject(new Error('map gone')) };
    await expect(get({ path: [path('cnpd', 'flows')] }, source)).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'flows: the state cannot be read: Error: map gone',
    });
    expect(await updates({ path: [path('cnpd', 'status', 'pid')] }, source)).toEqual({ '/cnpd/status/pid': 42 });
  });

  test('an answer beyond the bound is RESOURCE_EXHAUSTED in every encoding', async () => {
    for (const encoding of [Encoding.JSON, Encoding.JSON_IETF, Encoding.PROTO]) {
      await expect(get({ path: [path('cnpd', 'senders')], encoding }, undefined, 500)).rejects.toMatchObject({
        code: 'RESOURCE_EXHAUSTED',
      });
    }
  });

  test('numbers that a type cannot hold are left out, fractions are rounded', async () => {
    const state = exampleState();
    Object.assign(state.isis.neighbors[0]!, { holdTimeRemaining: 27.6 });
    Object.assign(state.ports[0]!, { packets: NaN, bytes: -1 });
    const source = sourceOf(state);
    expect(await updates({ path: [path('cnpd', 'isis', 'neighbors', 'hold-time-remaining')] }, source)).toMatchObject({
      [`/cnpd/isis/neighbors[interface=cnpd-isis][level=L2]/hold-time-remaining`]: 28,
    });
    expect((await updates({ path: [path('cnpd', 'ports')], encoding: Encoding.JSON }, source))['/cnpd/ports']).toEqual([
      expect.not.objectContaining({ bytes: expect.anything() }),
    ]);
  });

  test('a long list comes whole, entry by entry as it was', async () => {
    const senders = Array.from({ length: 5000 }, (_, i) => sender(`2001:db8:${i.toString(16)}::/48`));
    const source = sourceOf({ ...exampleState(), senders });
    const [whole, single] = [
      await updates({ path: [path('cnpd', 'senders')] }, source, 1 << 23),
      await updates({ path: [path('cnpd', ['senders', { prefix: '*' }])] }, source, 1 << 23),
    ];
    expect((whole['/cnpd/senders'] as { prefix: string }[]).map((entry) => entry.prefix)).toEqual(
      senders.map((entry) => entry.prefix),
    );
    expect(Object.values(single)).toEqual(whole['/cnpd/senders']);
  });

  test('every leaf that the schema names is served, under its own path', async () => {
    const leaves = (node: SchemaNode): string[] =>
      [...node.children.values()].flatMap((child) =>
        child.children.size > 0 ? leaves(child).map((rest) => `${child.name}/${rest}`) : [child.name],
      );
    const full: CnpdState = exampleState();
    Object.assign(full.bgp.session[0]!, {
      refusal: 'table is full',
      silent: 3,
      policyReason: 'not ours',
      dropped: 1,
      noTable: ['ipv4-unicast'],
    });
    Object.assign(full.flows[0]!, { sourceQpn: 5, learnedFrom: 'cm' });
    for (const name of CONFIG_SECTIONS) full.configuration[configField(name)] = new JsonText({});
    const answer = await updates({ path: [path()], encoding: Encoding.PROTO }, sourceOf(full));
    const served = new Set(Object.keys(answer).map((text) => text.replace(/\[[^\]]*\]/g, '').slice(1)));
    expect([...served].sort()).toEqual(leaves(ROOT).sort());
  });

  test('no request whatever makes it fail otherwise than with a code', async () => {
    const name = fc.oneof(
      fc.constantFrom('cnpd', 'senders', 'isis', 'status', '*', 'neighbors', 'prefix', '__proto__', 'constructor'),
      fc.string(),
    );
    const elem = fc.tuple(name, fc.dictionary(name, fc.string(), { maxKeys: 2 }));
    await fc.assert(
      fc.asyncProperty(fc.array(elem, { maxLength: 6 }), fc.constantFrom(0, 2, 4), async (elems, encoding) => {
        try {
          await get({ path: [path(...elems)], encoding });
        } catch (error) {
          expect(error).toMatchObject({
            name: 'RpcError',
            code: expect.stringMatching(/^(NOT_FOUND|INVALID_ARGUMENT|UNIMPLEMENTED)$/),
          });
        }
      }),
      { numRuns: 500 },
    );
  });
});
