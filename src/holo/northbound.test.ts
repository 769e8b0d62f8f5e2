// The client against a gRPC server of the test's: what it asks for, and what it makes of answers.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  CapabilitiesResponseSchema,
  CommitRequestSchema,
  GetRequestSchema,
  GetResponseSchema,
} from './gen/holo/northbound_pb.js';
import { type HoloNorthbound, connectHolo } from './northbound.ts';

const bytes = (message: Uint8Array): Buffer => Buffer.from(message);
const method = (name: string) => ({
  path: `/holo.Northbound/${name}`,
  requestStream: false,
  responseStream: false,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
});
type Answer = Uint8Array | { readonly code: status; readonly details: string };

let server: Server;
let holo: HoloNorthbound;
let asked: [string, Buffer][];
let answers: Record<string, Answer>;

beforeEach(async () => {
  [server, asked, answers] = [new Server(), [], {}];
  const names = ['Capabilities', 'GetConfig', 'GetState', 'Validate', 'Commit'];
  server.addService(
    Object.fromEntries(names.map((name) => [name, method(name)])),
    Object.fromEntries(
      names.map((name) => [
        name,
        ({ request }: { request: Buffer }, done: (error: object | null, value?: Uint8Array) => void) => {
          asked.push([name, request]);
          const answer = answers[name] ?? new Uint8Array();
          if (answer instanceof Uint8Array) done(null, answer);
          else done(answer);
        },
      ]),
    ),
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  holo = connectHolo(`127.0.0.1:${port}`);
});
afterEach(() => {
  holo.close();
  server.forceShutdown();
});

test('its version', async () => {
  answers['Capabilities'] = toBinary(
    CapabilitiesResponseSchema,
    create(CapabilitiesResponseSchema, { version: '0.9.0' }),
  );
  expect(await holo.version()).toBe('0.9.0');
});

test('the configuration with its defaults, and the state of one interface', async () => {
  const data = { data: { case: 'dataString' as const, value: '{"a": 1}' } };
  answers['GetConfig'] = answers['GetState'] = toBinary(GetResponseSchema, create(GetResponseSchema, { data }));
  expect(await holo.config(true)).toEqual({ a: 1 });
  expect(await holo.interfaceState(['x', ['interface', { name: 'e' }]])).toEqual({ a: 1 });
  const [config, state] = asked.map(([, request]) => fromBinary(GetRequestSchema, request));
  expect([config!.withDefaults, config!.path]).toEqual([true, undefined]);
  expect(state!.path!.elem).toMatchObject([
    { name: 'x', key: {} },
    { name: 'interface', key: { name: 'e' } },
  ]);
});

test('no data is an empty tree', async () => {
  expect(await holo.config(false)).toEqual({});
});

test('a change is merged, and says whose it is', async () => {
  await holo.commit({ a: 1 });
  const { operation, config, comment } = fromBinary(CommitRequestSchema, asked[0]![1]);
  expect([operation, config!.data.value, comment]).toEqual([0, '{"a":1}', 'cnpd']);
});

test.each([
  [
    { code: status.INVALID_ARGUMENT, details: 'Invalid enumeration value "pp".' },
    'refused',
    'Invalid enumeration value "pp".',
  ],
  [{ code: status.UNIMPLEMENTED, details: 'unknown service' }, 'other-program', /no Holo/],
  [{ code: status.INTERNAL, details: 'oops' }, 'unreachable', 'oops'],
] as const)('an error is one of three: %j', async (answer, code, message) => {
  answers['Validate'] = answer;
  await expect(holo.validate({})).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

test.each(['null', '[]', '5', '"text"'])('JSON that is no object is no answer of Holo: %s', async (value) => {
  const data = { data: { case: 'dataString' as const, value } };
  answers['GetConfig'] = toBinary(GetResponseSchema, create(GetResponseSchema, { data }));
  await expect(holo.config(false)).rejects.toMatchObject({ code: 'other-program' });
});

test('nothing that listens, and what is no JSON', async () => {
  const data = { data: { case: 'dataString' as const, value: '<xml/>' } };
  answers['GetConfig'] = toBinary(GetResponseSchema, create(GetResponseSchema, { data }));
  await expect(holo.config(false)).rejects.toMatchObject({ code: 'other-program' });
  server.forceShutdown();
  await expect(holo.version()).rejects.toMatchObject({ code: 'unreachable' });
});
