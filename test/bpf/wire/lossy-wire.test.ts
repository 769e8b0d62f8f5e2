// The wire of the lab's endpoints that loses packets: as many as were asked for, and never always the same ones.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { DROP, NEXT, context, data, frame } from '../support/packets.ts';

const ONE_IN = 40;
const PACKET = frame(data());
let wire: BpfObject;

beforeAll(() => {
  wire = openBpfObject('dist/bpf/lossy-wire.bpf.o', {
    rodata: (bytes) => new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, ONE_IN, true),
  });
});
afterAll(() => wire?.close());

test('one packet of each 40 is lost; a sender that repeats 40 packets loses another one each time', () => {
  const places = Array.from({ length: 20 }, () => {
    const verdicts = Array.from(
      { length: ONE_IN },
      () => wire.program('lossy_wire').testRun({ data: PACKET, ctx: context({}) }).retval,
    );
    expect(verdicts.filter((verdict) => verdict === NEXT)).toHaveLength(ONE_IN - 1);
    return verdicts.indexOf(DROP);
  });
  for (const [i, place] of places.entries()) expect(place).not.toBe(places[i - 1]);
  expect(new Set(places).size).toBeGreaterThan(10);
});
