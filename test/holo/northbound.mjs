// Holo's northbound by hand, in a node of the lab: `node northbound.mjs config` prints the configuration, `node
// northbound.mjs commit` merges the one on standard input.
import { readFileSync } from 'node:fs';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import {
  CommitRequestSchema,
  CommitResponseSchema,
  GetRequestSchema,
  GetResponseSchema,
} from '../../src/holo/gen/holo/northbound_pb.js';

const client = new Client('127.0.0.1:50051', credentials.createInsecure(), {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 100,
});
// holod may have been started a moment ago.
await new Promise((resolve, reject) =>
  client.waitForReady(Date.now() + 20_000, (error) => (error ? reject(error) : resolve())),
);
const call = (method, request, answer) =>
  new Promise((resolve, reject) => {
    const deadline = Date.now() + 20_000;
    const bytes = Buffer.from(request);
    client.makeUnaryRequest(
      `/holo.Northbound/${method}`,
      (x) => x,
      (x) => x,
      bytes,
      { deadline },
      (error, got) => (error ? reject(error) : resolve(fromBinary(answer, got))),
    );
  });

const [, , command] = process.argv;
if (command === 'config') {
  const request = toBinary(GetRequestSchema, create(GetRequestSchema, {}));
  console.log((await call('GetConfig', request, GetResponseSchema)).data.data.value);
} else {
  const config = { data: { case: 'dataString', value: readFileSync(0, 'utf8') } };
  await call('Commit', toBinary(CommitRequestSchema, create(CommitRequestSchema, { config })), CommitResponseSchema);
}
client.close();
