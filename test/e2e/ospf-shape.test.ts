// Which LSAs ospfd and ospf6d refuse, and that cnpd refuses the same: an adjacency over one that FRR refuses never
// becomes Full, because FRR drops every Database Description that names it.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { put } from '../../src/carriers/ospf/lsdb/lsdb.ts';
import type { Neighbor } from '../../src/carriers/ospf/neighbor/neighbor.ts';
import type { OspfVersion } from '../../src/carriers/ospf/version.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { address } from '../../src/model/address.ts';
import { fromHex } from '../../src/packet/hex.ts';
import { decodeLsa, encodeLsa } from '../../src/packet/ospf/lsa.ts';
import { lengthFlaw, shapeFlaw } from '../../src/packet/ospf/lsa-shape.ts';
import { encodePacket } from '../../src/packet/ospf/packet.ts';
import { lsaKeyText, parseId } from '../../src/packet/ospf/router-id.ts';
import type { Lsa, OspfPacket } from '../../src/packet/ospf/types.ts';
import { FrrNetwork, type FrrRouter } from './support/frr.ts';
import { DAEMON, LINK, OspfAgent, VERSIONS, ospfConfig } from './support/ospf.ts';
import { is, moreThan, until } from '../support/until.ts';

const AGENT = '192.0.2.101';
const FRR = '192.0.2.1';
const STRANGER = parseId('192.0.2.66')!;
const AREA = 0;
const bytes = (...lengths: number[]): string[] => lengths.map((length) => '00'.repeat(length));
const LINK_V2 = '0a0000010a00000101000001';
const LINK_LOCAL = 'fe80'.padEnd(32, '0');

/** Bodies by type. Whether it is refused, lengthFlaw and shapeFlaw say: FRR must agree in every case. */
const BODIES: Readonly<Record<2 | 3, Readonly<Record<number, readonly string[]>>>> = {
  2: {
    1: [
      ...bytes(0, 2, 3, 4, 5, 6),
      `00000001${LINK_V2}`,
      `00000002${LINK_V2}`,
      `00000000${LINK_V2}`,
      `00000001${LINK_V2}00000000`,
      '00000001' + '0a0000010a00000101030001',
    ],
    2: bytes(0, 4, 7, 8, 9, 12),
    3: ['', 'ffffff00', 'ffffff00000000', 'ffffff0000000001', 'ffffff000000000100', 'ffffff000000000100000000'],
    4: bytes(0, 4, 7, 8, 9, 12),
    5: [
      'ffffff00'.padEnd(24, '0'),
      'ffffff00'.padEnd(30, '0'),
      'ffffff0080000014'.padEnd(32, '0'),
      'ffffff0080000014'.padEnd(40, '0'),
      'ffffff0080000014'.padEnd(56, '0'),
    ],
    10: bytes(0, 1, 3, 4, 7, 8),
    11: bytes(0, 2, 4, 6),
  },
  3: {
    0x2001: bytes(0, 3, 4, 5, 12, 20),
    0x2002: bytes(0, 3, 4, 5, 8),
    0x2003: [
      ...bytes(0, 4, 7, 8),
      '00000001' + '40000000' + '20010db800000001',
      '00000001' + '40000000' + '20010db8',
      '00000001' + '81000000' + '00'.repeat(20),
      '00000001' + '0000000000000000',
    ],
    0x2004: bytes(0, 11, 12, 13, 16),
    0x4005: [
      ...bytes(0, 4, 7),
      '04000001' + '20000000' + '20010db8',
      '01000001' + '20000000' + '20010db8',
      '02000001' + '20000000' + '20010db8',
      '05000001' + '20000000' + '20010db800000007',
    ],
    0x2009: [
      ...bytes(0, 8, 11, 12),
      '00012001' + '00'.repeat(8) + '20000000' + '20010db8',
      '00022001' + '00'.repeat(8) + '20000000' + '20010db8',
    ],
    0x0008: [...bytes(0, 20, 23), `01000013${LINK_LOCAL}00000000`, `01000013${LINK_LOCAL}00000001`],
    0xa101: bytes(0, 3, 4, 5),
    0xa029: bytes(12, 13),
    0xa023: bytes(0, 1),
    0xa00c: bytes(0, 3),
  },
};

let net: FrrNetwork;
let poller: Poller;
let agent: OspfAgent;
const errors: unknown[] = [];

beforeEach(() => {
  net = new FrrNetwork('t-shape');
  poller = Poller.open({ onError: (error) => errors.push(error) });
});
afterEach(async () => {
  await agent?.remove();
  poller.close();
  await net.remove();
  expect(errors).toEqual([]);
});

async function start(version: OspfVersion): Promise<FrrRouter> {
  const frr = net.router('r1', '');
  frr.configureOspf(DAEMON(version), ospfConfig(version, { routerId: FRR, links: [LINK] }));
  agent = await OspfAgent.start(version, frr, { routerId: AGENT }, poller);
  await net.start();
  await until('full', () => agent.state, is('full'), 60_000);
  return frr;
}

interface Case {
  readonly name: string;
  readonly lsa: Lsa;
}

function cases({ version }: OspfVersion): Case[] {
  let lsId = 0x0a000100;
  return Object.entries(BODIES[version]).flatMap(([type, bodies]) =>
    bodies.map((body): Case => {
      lsId++;
      // ospfd discards a Router-LSA under another ID than its router's; opaque type 240 is cnpd's.
      const advertisingRouter = version === 2 && type === '1' ? lsId : STRANGER;
      const header = {
        age: 1,
        options: 0x42,
        type: Number(type),
        lsId: type === '10' ? 0xf0000000 + lsId : lsId,
        advertisingRouter,
        sequence: 7,
      };
      const lsa = decodeLsa(version, encodeLsa(version, header, { kind: 'unknown', content: fromHex(body) }));
      if (!lsa.ok) throw new Error(lsa.error.detail);
      return { name: `type 0x${Number(type).toString(16)}: ${body}`, lsa: lsa.value };
    }),
  );
}

describe.each(VERSIONS)('%s', (_name, version) => {
  const speaker = (): OspfAgent['runner']['speaker'] => agent.runner.speaker;
  const neighbor = (): Neighbor => speaker().areas.get(AREA)!.neighbor!;
  const isOwed = ({ lsa }: Case): boolean => neighbor().retransmit.has(lsaKeyText(lsa));

  /** Sends it in a packet of its own, and again only when nothing else is left to be sent. */
  function send({ lsa }: Case): void {
    const { now } = speaker();
    put(speaker().areas.get(AREA)!.lsdb, lsa, false, now, false);
    neighbor().unsent.add(lsaKeyText(lsa));
    neighbor().floodAt = now;
    agent.runner.event({ type: 'timer' });
    neighbor().retransmit.set(lsaKeyText(lsa), Infinity);
  }

  test('FRR refuses what we refuse, and takes the rest', async () => {
    await start(version);
    const all = cases(version);
    const witness = all.find(({ lsa }) => shapeFlaw(version.version, lsa) === undefined)!;
    const asked = all.filter((one) => one !== witness);
    for (const one of asked) send(one);
    const taken = asked.filter(({ lsa }) => shapeFlaw(version.version, lsa) === undefined);
    send(witness);
    await until(
      'FRR acknowledges what has the shape of its type',
      () => ({ notAcknowledged: [witness, ...taken].filter(isOwed).map(({ name }) => name) }),
      is({ notAcknowledged: [] }),
      30_000,
    );
    const refused = asked.filter(({ lsa }) => shapeFlaw(version.version, lsa) !== undefined);
    expect(refused.length).toBeGreaterThan(15);
    expect(refused.filter((one) => !isOwed(one)).map(({ name }) => name)).toEqual([]);
  });

  test('each of them comes to us, and then the exchange begins anew: the adjacency comes up', async () => {
    await start(version);
    const frrEnd = version.version === 2 ? address('169.254.89.0') : address('fe80::63:6eff:fe70:301');
    const addresses = { source: frrEnd, destination: version.destination };
    const give = (packet: OspfPacket): void =>
      agent.runner.event({
        type: 'received',
        areaId: AREA,
        payload: encodePacket(version.version, packet, addresses),
        addresses,
      });
    const header = { routerId: parseId(FRR)!, areaId: AREA, instanceId: 0 };
    const malformed = cases(version).filter(({ lsa }) => shapeFlaw(version.version, lsa) !== undefined);
    for (const { lsa } of malformed) give({ ...header, kind: 'link-state-update', lsas: [lsa] });
    await until('all are refused', () => agent.count(`${version.name}.lsa.bad-shape`), is(malformed.length));
    expect(
      [...speaker().areas.get(AREA)!.lsdb.byKey.values()].filter(
        (lsa) => lengthFlaw(version.version, lsa) !== undefined,
      ),
    ).toEqual([]);
    // Out of sequence: both ends begin anew (RFC 2328 §10.3).
    const description = {
      mtu: 1500,
      options: neighbor().options,
      initialize: false,
      more: false,
      master: true,
      sequence: 12345,
      headers: [],
    };
    give({ ...header, kind: 'database-description', ...description });
    await until(
      'the exchange begins anew',
      () => agent.count(`${version.name}.neighbor.sequence-number-mismatch`),
      moreThan(0),
    );
    await until('full again', () => agent.state, is('full'), 60_000);
  });
});
