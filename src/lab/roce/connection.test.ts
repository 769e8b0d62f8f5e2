import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { type CmMessage, type CmReq, decodeCmMad, encodeCmMad, rdmaCmHeader } from '../../packet/roce/cm.ts';
import { ActiveConnection, PassiveConnection } from './connection.ts';

const [H1, H2] = [address('2001:db8:1::2'), address('2001:db8:2::2')];
const A = { address: H1, qpn: 0x111111, commId: 0xa, startingPsn: 0x123456 };
const B = { address: H2, qpn: 0x222222, commId: 0xb, startingPsn: 0x654321 };
const active = (): ActiveConnection => new ActiveConnection(A, H2, { port: 18515, payloadSize: 1024 });

/** Through the codec, as on the wire. */
function wire<T extends CmMessage>(message: T): T {
  const mad = decodeCmMad(encodeCmMad(1n, message));
  if (!mad.ok) throw new Error(mad.error.code);
  return mad.value.message as T;
}

test('REQ, REP, RTU: both sides know both Queue Pairs and starting PSNs', () => {
  const a = active();
  const req = wire(a.poll(0) as CmReq);
  const b = new PassiveConnection(B, req);
  const rtu = a.onMessage(wire(b.reply()))!;
  expect(rtu.kind).toBe('rtu');
  expect(b.onMessage(wire(rtu))).toBeUndefined();
  expect({ aState: a.state, bState: b.state }).toEqual({ aState: 'established', bState: 'established' });
  expect(a.remote).toEqual({ qpn: B.qpn, commId: B.commId, startingPsn: B.startingPsn });
  expect(b.remote).toEqual({ qpn: A.qpn, commId: A.commId, startingPsn: A.startingPsn });
});

test('the REQ is one of the Linux RDMA CM: its service, its addresses, an RC transport', () => {
  const req = wire(active().poll(0) as CmReq);
  expect(req).toMatchObject({ transport: 0, localGid: H1, remoteGid: H2, pathMtu: 3 });
  expect(rdmaCmHeader(req)).toMatchObject({ source: H1, destination: H2, destinationPort: 18515 });
});

test('a REQ is repeated until it is answered, and not for ever', () => {
  const a = active();
  expect([0, 100, 499, 500].map((t) => a.poll(t)?.kind)).toEqual(['req', undefined, undefined, 'req']);
  for (let t = 1000; t <= 10_000; t += 500) a.poll(t);
  expect(a.state).toBe('unanswered');
});

test('a repeated REP is confirmed again; a repeated REQ is answered as before', () => {
  const a = active();
  const b = new PassiveConnection(B, wire(a.poll(0) as CmReq));
  a.onMessage(b.reply());
  expect(a.onMessage(b.reply())).toMatchObject({ kind: 'rtu' });
  expect(b.onMessage(wire(active().poll(0)!))).toEqual(b.reply());
});

test('DREQ and DREP end it on both sides', () => {
  const a = active();
  const b = new PassiveConnection(B, wire(a.poll(0) as CmReq));
  b.onMessage(a.onMessage(b.reply())!);
  a.close();
  const dreq = a.poll(10)!;
  expect(dreq).toMatchObject({ kind: 'dreq', remoteQpn: B.qpn });
  const drep = b.onMessage(wire(dreq))!;
  expect(a.onMessage(wire(drep))).toBeUndefined();
  expect({ aState: a.state, bState: b.state }).toEqual({ aState: 'closed', bState: 'closed' });
});

test('messages of another connection change nothing', () => {
  const a = active();
  const b = new PassiveConnection(B, wire(a.poll(0) as CmReq));
  const foreign = { ...b.reply(), remoteCommId: 0x999 } as CmMessage;
  expect(a.onMessage(foreign)).toBeUndefined();
  expect(a.state).toBe('connecting');
});

test('a refusal ends the attempt', () => {
  const a = active();
  a.poll(0);
  a.onMessage({
    kind: 'rej',
    localCommId: 0,
    remoteCommId: A.commId,
    rejected: 0,
    reason: 28,
    privateData: new Uint8Array(),
  });
  expect(a.state).toBe('refused');
});
