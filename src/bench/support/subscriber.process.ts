// A subscriber in a process of its own: `subscriber SOCKET SUBSCRIBE-REQUEST VALUES [PEM]`, the request in base64. With
// PEM, SOCKET is ADDRESS:PORT, and ca.pem, PEM.pem and PEM.key are of TLS. It counts
// what comes until the call ends, or so many values that are times have come, and reports as JSON. Times are those of
// CLOCK_MONOTONIC in nanoseconds: it measures how old they are when they come.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { SubscribeResponseSchema } from '../../northbound/gen/gnmi/gnmi_pb.js';
import type { SubscriberReport } from './gnmi-server.ts';

const [socket, request, wanted, pem] = process.argv.slice(2) as [string, string, string, string?];
const values = Number(wanted);
const same = (bytes: Buffer): Buffer => bytes;
const tls = (name: string): ReturnType<typeof credentials.createSsl> =>
  credentials.createSsl(
    readFileSync(join(dirname(name), 'ca.pem')),
    readFileSync(`${name}.key`),
    readFileSync(`${name}.pem`),
  );
const client =
  pem === undefined
    ? new Client(`unix:${socket}`, credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 })
    : new Client(socket, tls(pem), {
        'grpc.max_receive_message_length': -1,
        'grpc.ssl_target_name_override': 'router',
      });

function report(begun: bigint, bytes: number, agesMs: number[]): void {
  const result: SubscriberReport = { ms: Number(process.hrtime.bigint() - begun) / 1e6, bytes, agesMs };
  process.stdout.write(JSON.stringify(result), () => process.exit(0));
}

/** Of values that are times. */
function agesIn(message: Buffer, now: bigint): number[] {
  const { response } = fromBinary(SubscribeResponseSchema, message);
  if (response.case !== 'update') return [];
  return response.value.update.flatMap(({ val }) => {
    const value = val?.value;
    return value?.case === 'stringVal' && /^\d+$/.test(value.value) ? [Number(now - BigInt(value.value)) / 1e6] : [];
  });
}

// The connection is there before the time begins.
client.waitForReady(Date.now() + 10_000, (error) => {
  if (error) throw error;
  const begun = process.hrtime.bigint();
  const call = client.makeBidiStreamRequest('/gnmi.gNMI/Subscribe', same, same);
  const agesMs: number[] = [];
  let bytes = 0;
  call.on('data', (message: Buffer) => {
    bytes += message.length;
    if (values === 0) return;
    for (const age of agesIn(message, process.hrtime.bigint())) agesMs.push(age);
    if (agesMs.length >= values) report(begun, bytes, agesMs);
  });
  call.on('end', () => report(begun, bytes, agesMs));
  call.write(Buffer.from(request, 'base64'));
});
