// What goes out: bursts of updates and when the next is due, acknowledgements that arrive (RFC 2328 §13.3, §13.7),
// descriptions that fit (§10.8). On a speaker without a runner.
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { decodeLsa, encodeLsa } from '../../packet/ospf/lsa.ts';
import { MAX_AGE, OPTION_V2 } from '../../packet/ospf/numbers.ts';
import { decodePacket } from '../../packet/ospf/packet.ts';
import type { OspfPacket } from '../../packet/ospf/types.ts';
import { SEND_BURST, SEND_GAP_MS } from './constants.ts';
import { receiveDescription } from './exchange/exchange.ts';
import { floodDue, receiveAcknowledgment, receiveUpdate } from './flooding/flooding.ts';
import { type StoredLsa, headerOf, put, remove } from './lsdb/lsdb.ts';
import { type NeighborState, newNeighbor } from './neighbor/neighbor.ts';
import { sendRequests } from './exchange/requests.ts';
import { Router, testConfig } from './simulation.fixture.ts';
import { bodyCapacity } from './transmit.ts';

const SELF = 0x01010101;
const NEIGHBOR = 0x02020202;
const NOW = 10_000;
const SOURCE = address('10.0.0.1');

function scene(state: NeighborState = 'full', opaque = true) {
  const router = new Router(testConfig(SELF));
  const { speaker: s, area } = router;
  s.now = NOW;
  area.link = { address: SOURCE, peer: undefined };
  const options = OPTION_V2.external | (opaque ? OPTION_V2.opaque : 0);
  const neighbor = (area.neighbor = Object.assign(newNeighbor(NEIGHBOR, 0), { state, options }));
  const hold = (lsId: number, { length = 24, age = 1, type = 10, own = true } = {}): StoredLsa => {
    const header = { age, options: 0, type, lsId, advertisingRouter: SELF, sequence: 5 };
    const lsa = decodeLsa(2, encodeLsa(2, header, { kind: 'unknown', content: new Uint8Array(length - 20) }));
    if (!lsa.ok) throw new Error(lsa.error.detail);
    return put(area.lsdb, lsa.value, own, 0, false).stored;
  };
  const sent = (): OspfPacket[] =>
    s.effects.splice(0).flatMap((effect) => {
      router.note(effect);
      if (effect.type !== 'send') return [];
      const packet = decodePacket(2, effect.payload, { source: SOURCE, destination: effect.destination });
      return packet.ok ? [packet.value] : [];
    });
  return { router, s, area, neighbor, hold, sent };
}

describe('a burst', () => {
  const burst = (lsas: number, length: number) => {
    const { s, area, neighbor, hold, sent } = scene();
    for (let n = 0; n < lsas; n++) neighbor.unsent.add(hold(n, { length }).key);
    floodDue(s, area, neighbor);
    return { packets: sent().length, left: neighbor.unsent.size, floodAt: neighbor.floodAt };
  };
  const ROOM = 1456;

  test('is as many bytes as its datagrams have, and the rest follows after a gap', () => {
    const { s, area } = scene();
    expect(bodyCapacity(s, area)).toBe(ROOM);
    expect(burst(SEND_BURST + 1, ROOM - 4)).toMatchObject({ packets: SEND_BURST + 1, left: 0 });
    expect(burst(SEND_BURST + 1, ROOM)).toEqual({ packets: SEND_BURST, left: 1, floodAt: NOW + SEND_GAP_MS });
    expect(burst(3 * SEND_BURST, ROOM)).toEqual({
      packets: SEND_BURST,
      left: 2 * SEND_BURST,
      floodAt: NOW + SEND_GAP_MS,
    });
  });

  test('that is all of it is repeated when it was not acknowledged', () => {
    expect(burst(3, 24)).toEqual({ packets: 1, left: 0, floodAt: NOW + 5000 });
    expect(burst(0, 24)).toEqual({ packets: 0, left: 0, floodAt: Infinity });
  });

  test('leaves out what is gone from the database', () => {
    const { s, area, neighbor, hold, sent } = scene();
    const [gone, there] = [hold(1), hold(2)];
    for (const { key } of [gone, there]) neighbor.unsent.add(key);
    remove(area.lsdb, gone);
    floodDue(s, area, neighbor);
    expect(sent()).toMatchObject([{ kind: 'link-state-update', lsas: [{ lsId: 2 }] }]);
    expect([...neighbor.retransmit.keys()]).toEqual([there.key]);
  });
});

describe('an acknowledgement', () => {
  const acknowledge = (age: number, owed = true, sequence = 5) => {
    const { router, s, area, neighbor, hold, sent } = scene();
    const lsa = hold(1, { age });
    if (owed) neighbor.retransmit.set(lsa.key, NOW + 5000);
    area.lsdb.sweepAt = Infinity;
    const header = { ...headerOf(lsa, NOW), sequence };
    receiveAcknowledgment(s, area, neighbor, { headers: [header] } as never);
    sent();
    return [neighbor.retransmit.size, area.lsdb.sweepAt, router.count('acknowledgment.other-instance')];
  };

  test('of a flush lets the LSA be forgotten; of another one it is all', () => {
    expect(acknowledge(MAX_AGE)).toEqual([0, NOW, 0]);
    expect(acknowledge(1)).toEqual([0, Infinity, 0]);
  });

  test('of another instance is counted, and only when one was awaited', () => {
    expect(acknowledge(1, true, 4)).toEqual([1, Infinity, 1]);
    expect(acknowledge(1, false, 4)).toEqual([0, Infinity, 0]);
  });

  test('is the same instance that comes back, and none is sent for it (§13 step 7); else one is', () => {
    for (const owed of [true, false]) {
      const { s, area, neighbor, hold, sent } = scene();
      const lsa = hold(1, { own: false });
      if (owed) neighbor.retransmit.set(lsa.key, NOW + 5000);
      receiveUpdate(s, area, neighbor, { lsas: [{ ...lsa, age: 11 }] } as never);
      expect({ owed, sent: sent().map(({ kind }) => kind) }).toEqual({
        owed,
        sent: owed ? [] : ['link-state-acknowledgment'],
      });
      expect(neighbor.retransmit.size).toBe(0);
    }
  });
});

describe('a description', () => {
  /** The LSAs that we describe as slave, packet by packet. */
  function described(
    { s, area, neighbor, sent }: ReturnType<typeof scene>,
    between: () => void = () => {},
  ): (readonly number[])[] {
    const packets: (readonly number[])[] = [];
    const dd = { mtu: 1500, options: neighbor.options, master: true, headers: [] };
    for (let sequence = 1; ['ex-start', 'exchange'].includes(neighbor.state); sequence++) {
      receiveDescription(s, area, neighbor, {
        ...dd,
        kind: 'database-description',
        initialize: sequence === 1,
        more: sequence < 3,
        sequence,
      } as never);
      for (const packet of sent())
        if (packet.kind === 'database-description') packets.push(packet.headers.map(({ lsId }) => lsId));
      between();
    }
    return packets;
  }
  const FIT = Math.floor((1500 - 20 - 24 - 12) / 20);

  test('has no more headers than fit the datagram', () => {
    const all = scene('ex-start');
    for (let n = 0; n < 2 * FIT + 1; n++) all.hold(n);
    expect(described(all).map(({ length }) => length)).toEqual([FIT, FIT, 1]);
  });

  test('leaves out an LSA that is forgotten while it waits to be described', () => {
    const all = scene('ex-start');
    const lsas = Array.from({ length: FIT + 2 }, (_, n) => all.hold(n));
    let first = true;
    const packets = described(all, () => {
      if (first) remove(all.area.lsdb, lsas[FIT]!);
      first = false;
    });
    expect(packets.flat()).not.toContain(FIT);
    expect(packets.flat()).toContain(FIT + 1);
  });

  test('names no opaque LSA to a neighbor that takes none (RFC 5250 §3.1)', () => {
    for (const opaque of [true, false]) {
      const all = scene('ex-start', opaque);
      all.hold(1);
      all.hold(2, { type: 3, length: 28 });
      expect(described(all).flat()).toEqual(opaque ? [1, 2] : [2]);
    }
  });

  test('does not name what came since the exchange began: it is flooded', () => {
    const all = scene('ex-start');
    for (let n = 0; n < FIT + 1; n++) all.hold(n);
    const packets = described(all, () => {
      all.s.now += 1000;
      Object.assign(all.hold(100 + all.s.now), { installedAt: all.s.now });
    });
    expect(packets.flat().filter((lsId) => lsId > FIT)).toEqual([]);
  });
});

test('requests are as many as fit a datagram, and the others wait for the answers (§10.9)', () => {
  const { s, area, neighbor, hold, sent } = scene('loading');
  const fit = Math.floor((1500 - 20 - 24) / 12);
  const header = headerOf(hold(0), NOW);
  for (let n = 0; n < fit + 1; n++) neighbor.requests.set(`10/${n}/${SELF}`, { ...header, lsId: n });
  sendRequests(s, area, neighbor);
  expect(sent().map((packet) => packet.kind === 'link-state-request' && packet.requests.length)).toEqual([fit]);
});
