// A subscriber in a process of its own: `subscriber SOCKET SUBSCRIBE-REQUEST VALUES`, the request in base64. It counts
// what comes until the call ends, or so many values that are times have come, and reports as JSON. Times are those of
// CLOCK_MONOTONIC in nanoseconds: it measures how old they are when they come.
import { fromBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { SubscribeResponseSchema } from '../../northbound/gen/gnmi/gnmi_pb.js';
import type { SubscriberReport } from './gnmi-server.ts';

const [socket, request, wanted] = process.argv.slice(2) as [string, string, string];
const values = Number(wanted);
const same = (bytes: Buffer): Buffer => bytes;
const client = new Client(`unix:${socket}`, credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 });

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
