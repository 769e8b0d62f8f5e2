// Hostile OSPF on the link of a running daemon, in both versions: damaged, contradictory, under wrong names, with LSAs
// of any contents. Each is counted under its own name; FRR stays or is again a full neighbor, and what both ends of
// the network have learned is never lost.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { OSPFV2, OSPFV3 } from '../../src/carriers/ospf/version.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { type IpAddress, address } from '../../src/model/address.ts';
import { concat, put16 } from '../../src/packet/bytes.ts';
import { fromHex } from '../../src/packet/hex.ts';
import { addWords, foldChecksum } from '../../src/packet/ip/checksum.ts';
import { encodeIpv4 } from '../../src/packet/ip/ipv4.ts';
import { encodeFrames } from '../../src/packet/ospf/frame.ts';
import { decodeLsa, encodeLsa } from '../../src/packet/ospf/lsa.ts';
import { encodePacket } from '../../src/packet/ospf/packet.ts';
import { HEADER_LENGTH, setChecksum } from '../../src/packet/ospf/packet-header.ts';
import { parseId } from '../../src/packet/ospf/router-id.ts';
import type { Hello, Lsa, OspfPacket } from '../../src/packet/ospf/types.ts';
import {
  allFull,
  flagged,
  isFull,
  neighbors,
  ospf,
  type Protocol,
  PROTOCOLS,
  proxying,
  ROUTER_ID,
  startFull,
} from './support/areas.ts';
import { Network, type Router } from './support/network.ts';
import { Port } from './support/port.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

const FRR = parseId('192.0.2.2')!;
const OWN = parseId(ROUTER_ID.core)!;
const STRANGER = parseId('66.66.66.66')!;
const LIMIT = 60_000;
/** FRR's end of core's link: what is sent there comes to cnpd as if from FRR. */
const END = {
  ospfv2: { mac: '02636e700201', address: '169.254.89.0' },
  ospfv3: { mac: '02636e700301', address: 'fe80::63:6eff:fe70:301' },
} as const;
/** What says that a prefix has flags of three bytes (RFC 9792 §2: whole words). */
const BROKEN = {
  ospfv2: { type: 10, lsId: 0x07000009, content: fromHex('00010010011800000a420000000b000320000000') },
  ospfv3: {
    type: 0xa029,
    lsId: 9,
    content: fromHex('00002001000000004242424200060018000000014000000020010db8006600000025000320000000'),
  },
} as const;

function ipv4(
  ends: { readonly source: IpAddress; readonly destination: IpAddress },
  payload: Uint8Array,
  { more = false } = {},
): Uint8Array {
  const packet = concat(
    encodeIpv4({
      ...ends,
      payloadLength: payload.length,
      trafficClass: 0,
      hopLimit: 64,
      protocol: 89,
      identification: 7,
    }),
    payload,
  );
  if (!more) return packet;
  packet[6] = 0x20;
  put16(packet, 10, 0);
  put16(packet, 10, foldChecksum(addWords(0, packet, 0, 20)));
  return packet;
}

let net: Network;
let core: Router, abr1: Router;
let poller: Poller;
const errors: unknown[] = [];

beforeAll(async () => {
  net = await Network.up('areas');
  [core, abr1] = [net.router('core'), net.router('abr1')];
  poller = Poller.open({ onError: (error) => errors.push(error) });
});
afterAll(async () => {
  poller?.close();
  await net?.down();
  expect(errors).toEqual([]);
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
  expect(await core.counter('daemon.unexpected-error')).toBe(0);
});

describe.each(PROTOCOLS)('$name', (p: Protocol) => {
  const version = p.name === 'ospfv2' ? OSPFV2 : OSPFV3;
  const addresses = { source: address(END[p.name].address), destination: version.destination };
  const [HERE, THERE] = [p.prefix(1), p.prefix(2)];
  let wire: Port;

  beforeAll(async () => {
    await startFull(net, p, {
      core: { ...ospf(p, 'core'), ...proxying(p, 'core', [HERE]) },
      abr1: { ...ospf(p, 'abr1', { areas: ['0.0.0.0'] }), ...proxying(p, 'abr1', [THERE]) },
    });
    wire = await Port.open(net.lab, `core:${p.link(0)}`, `core:${p.link(0)}`, { poller, errors });
    await until('each knows the other', learnedByBoth, is(BOTH_LEARNED), LIMIT);
  });
  afterAll(async () => {
    wire?.close();
    await net.stopAll();
  });

  const learnedByBoth = async (): Promise<object> => ({
    core: await flagged(core, THERE),
    abr1: await flagged(abr1, HERE),
  });
  const BOTH_LEARNED = {
    core: [`0.0.0.0 ${ROUTER_ID.abr1} ${p.proxy.abr1}`],
    abr1: [`0.0.0.0 ${ROUTER_ID.core} ${p.proxy.core}`],
  };
  const give = (payload: Uint8Array): void => {
    for (const frame of encodeFrames(version.version, fromHex(END[p.name].mac), addresses, payload, 1500, 1))
      wire.sendFrame(frame);
  };
  const encode = (packet: OspfPacket): Uint8Array => encodePacket(version.version, packet, addresses);
  const header = { routerId: FRR, areaId: 0, instanceId: 0 };
  const hello = (fields: Partial<Hello> = {}): Hello => ({
    ...header,
    kind: 'hello',
    networkMask: 0xfffffffe,
    interfaceId: 1,
    options: p.name === 'ospfv2' ? 2 : 0x13,
    helloInterval: 1,
    priority: 1,
    deadInterval: 4,
    designatedRouter: 0,
    backupDesignatedRouter: 0,
    neighbors: [OWN],
    ...fields,
  });
  /** An LSA with these bytes as its body, its checksum right. */
  function lsa(type: number, lsId: number, content: Uint8Array, advertisingRouter = STRANGER, sequence = 7): Lsa {
    const decoded = decodeLsa(
      version.version,
      encodeLsa(
        version.version,
        { age: 1, options: 0x42, type, lsId, advertisingRouter, sequence },
        { kind: 'unknown', content },
      ),
    );
    if (!decoded.ok) throw new Error(decoded.error.detail);
    return decoded.value;
  }
  const update = (...lsas: Lsa[]): Uint8Array => encode({ ...header, kind: 'link-state-update', lsas });
  const patched = (bytes: Uint8Array, at: number, byte: number): Uint8Array => bytes.with(at, byte);
  const { type, lsId, content } = BROKEN[p.name];
  const repaired = (bytes: Uint8Array): Uint8Array => {
    put16(bytes, 2, bytes.length);
    setChecksum(version.version, bytes, addresses);
    return bytes;
  };

  test.each<[string, string, () => Uint8Array]>([
    [
      'a packet with a wrong checksum',
      'packet.bad-checksum',
      () => patched(encode(hello()), HEADER_LENGTH[version.version] + 5, 0x55),
    ],
    ['a packet that says to be longer than it is', 'packet.truncated', () => patched(encode(hello()), 2, 5)],
    ['a packet of another area', 'packet.area-mismatch', () => encode(hello({ areaId: 7 }))],
    ['a hello of our own, looped back', 'packet.own-router-id', () => encode(hello({ routerId: OWN }))],
    ['a hello with another interval', 'hello.hello-interval-mismatch', () => encode(hello({ helloInterval: 9 }))],
    [
      'an update of a router without a hello before',
      'packet.no-neighbor',
      () => encode({ ...header, routerId: STRANGER, kind: 'link-state-update', lsas: [] }),
    ],
    [
      'an LSA with a wrong Fletcher checksum',
      'lsa.bad-checksum',
      () => repaired(patched(update(lsa(type, lsId, content)), HEADER_LENGTH[version.version] + 4 + 20, 0x77)),
    ],
    ['an LSA whose flags are not whole words', 'learn.malformed', () => update(lsa(type, lsId, content))],
    [
      'an LSA of ours with a higher sequence number',
      'own.outbid',
      () => update(lsa(type, p.name === 'ospfv2' ? 0x07000000 : 0, content, OWN, 1000)),
    ],
  ])('%s is counted as %s; the neighbor stays full, and both tables hold', async (_name, counter, build) => {
    const name = `${p.name}.${counter}`;
    const before = await core.counter(name);
    give(build());
    await until('counted', () => core.counter(name), moreThan(before));
    expect(await isFull(p, core)).toBe(true);
    await until('both know', learnedByBoth, is(BOTH_LEARNED), LIMIT);
  });

  test('an update under FRR’s name that was routed here teaches nothing: its source is not on the link', async () => {
    const name = `${p.name}.packet.off-link`;
    const before = await core.counter(name);
    const afar = { ...addresses, source: address(p.proxy.leaf) };
    const payload = encodePacket(
      version.version,
      { ...header, kind: 'link-state-update', lsas: [lsa(type, lsId, content, parseId('66.66.66.67'))] },
      afar,
    );
    for (const frame of encodeFrames(version.version, fromHex(END[p.name].mac), afar, payload, 1500, 1))
      wire.sendFrame(frame);
    await until('counted', () => core.counter(name), moreThan(before));
    expect((await core.show(p.command, 'database')).map((row) => row['router'])).not.toContain('66.66.66.67');
  });

  /** An adjacency that is lost comes up by an exchange. */
  const exchanges = (): Promise<number> => core.counter(`${p.name}.tx.database-description`);

  // What another router sends is routed to the link by core's kernel.
  test.runIf(p.name === 'ospfv2')(
    'hellos and updates that abr1 has routed here, from our own address, FRR’s or its own: the adjacency stays, and nothing is taught',
    async () => {
      const [ours, frrs, afar, group] = ['169.254.89.1', '169.254.89.0', '192.0.2.77', '224.0.0.5'].map(address) as [
        IpAddress,
        IpAddress,
        IpAddress,
        IpAddress,
      ];
      const port = await Port.open(net.lab, 'abr1:eth2', 'core:eth1', { poller, errors });
      const offLink = (): Promise<number> => core.counter('ospfv2.packet.off-link');
      const forge = (source: IpAddress, destination: IpAddress, times: number): void => {
        const ends = { source, destination };
        const evil = lsa(type, 0x07000055, content, parseId('66.66.66.68'));
        const kinds: OspfPacket[] = [
          hello({ routerId: STRANGER, neighbors: [] }),
          hello({ neighbors: [] }),
          { ...header, kind: 'link-state-update', lsas: [evil] },
        ];
        for (let i = 0; i < times; i++)
          for (const packet of kinds) port.send(ipv4(ends, encodePacket(2, packet, ends)));
      };
      try {
        const [before, exchanged] = [await offLink(), await exchanges()];
        forge(ours, ours, 3);
        forge(afar, ours, 3);
        await until('those of our own address and of afar arrive', () => offLink(), atLeast(before + 18));
        // The kernel takes FRR's address from no host, and forwards nothing to 224.0.0.5: these do not arrive at all.
        forge(frrs, ours, 3);
        for (const source of [ours, frrs, afar]) forge(source, group, 3);
        forge(afar, ours, 1);
        await until('the last three arrive', () => offLink(), atLeast(before + 21));
        expect(await offLink()).toBe(before + 21);
        expect((await core.show('ospf', 'database')).map((row) => row['router'])).not.toContain('66.66.66.68');
        expect({ full: await isFull(p, core), exchanges: await exchanges() }).toEqual({
          full: true,
          exchanges: exchanged,
        });
        expect(await learnedByBoth()).toEqual(BOTH_LEARNED);
      } finally {
        port.close();
      }
    },
  );

  test.runIf(p.name === 'ospfv2')(
    '200,000 packets and fragments from elsewhere, faster than the inbox is worked off: none takes the place of FRR’s',
    async () => {
      const port = await Port.open(net.lab, 'abr1:eth2', 'core:eth1', { poller, errors });
      const ends = { source: address('192.0.2.77'), destination: address('169.254.89.1') };
      const whole = ipv4(ends, new Uint8Array(44));
      const fragment = ipv4(ends, new Uint8Array(48), { more: true });
      try {
        const [before, exchanged] = [await core.counters(), await exchanges()];
        for (let round = 0; round < 200; round++) {
          for (let i = 0; i < 500; i++) for (const packet of [whole, fragment]) port.send(packet);
          await core.get('status');
        }
        await until(
          'they are counted',
          async () => (await core.counter('ospfv2.packet.off-link')) - (before['ospfv2.packet.off-link'] ?? 0),
          moreThan(100_000),
          LIMIT,
        );
        expect(await core.counter('ospfv2.rx.queue-full')).toBe(before['ospfv2.rx.queue-full'] ?? 0);
        expect({ full: await isFull(p, core), exchanges: await exchanges() }).toEqual({
          full: true,
          exchanges: exchanged,
        });
      } finally {
        port.close();
      }
    },
  );

  let seed = 1;
  const random = (below: number): number => (seed = (seed * 48271) % 0x7fffffff) % below;
  const damaged = (bytes: Uint8Array, from: number): Uint8Array => {
    const copy = bytes.slice();
    for (let n = 0; n < 3; n++) copy[from + random(copy.length - from)]! ^= 1 << random(8);
    return copy;
  };
  const sum = (counters: Record<string, number>, names: RegExp): number =>
    Object.entries(counters).reduce((total, [name, value]) => total + (names.test(name) ? value : 0), 0);

  test('every truncation of a hello and an update, and 4,000 with bits turned: counted; FRR is a full neighbor, and both tables hold', async () => {
    const samples = [encode(hello()), update(lsa(type, lsId, content))];
    const names = new RegExp(`^${p.name}\\.(packet|lsa)\\.`);
    const before = sum(await core.counters(), names);
    for (const sample of samples) for (let length = 0; length < sample.length; length++) give(sample.slice(0, length));
    for (let i = 0; i < 4000; i++) {
      give(damaged(samples[i % 2]!, 0));
      if (i % 500 === 0) await core.get('status');
    }
    await until('thousands are counted', async () => sum(await core.counters(), names) - before, moreThan(3500), LIMIT);
    await until('full', () => neighbors(p, core), allFull, LIMIT);
    await until('both know', learnedByBoth, is(BOTH_LEARNED), LIMIT);
  });

  test('3,000 LSAs with damaged bodies and right checksums, and 300 hellos alike: read or counted; FRR is a full neighbor again, and nothing was lost', async () => {
    const before = sum(await core.counters(), new RegExp(`^${p.name}\\.rx\\.`));
    for (let i = 0; i < 3000; i++) {
      give(update(lsa(type, (lsId + i) >>> 0, damaged(content, 0))));
      if (i % 500 === 0) await core.get('status');
    }
    await until(
      'read',
      async () => sum(await core.counters(), new RegExp(`^${p.name}\\.rx\\.`)) - before,
      atLeast(3000),
      LIMIT,
    );
    expect(await learnedByBoth()).toEqual(BOTH_LEARNED);
    for (let i = 0; i < 300; i++) give(repaired(damaged(encode(hello()), HEADER_LENGTH[version.version])));
    await until('full', () => neighbors(p, core), allFull, LIMIT);
    await until('both know', learnedByBoth, is(BOTH_LEARNED), LIMIT);
    // Held or not: what this router has learned from afar stayed.
    expect((await core.sender(THERE))?.['proxy']).toBe(p.proxy.abr1);
    expect(Number(/VmRSS:\s+(\d+)/.exec(await core.exec('cat', `/proc/${core.pid}/status`))![1])).toBeLessThan(250_000);
  });
});
