// LSPs that contradict stored ones, and floods of LSPs.
import { beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { prefixEntry, tlv236 } from '../../../packet/isis/foreign.fixture.ts';
import { LAST_LSP_ID, readLspId } from '../../../packet/isis/lsp-id.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import { A, B, C, adjacency, csnp, entry, hello, lsp } from '../hostile.fixture.ts';
import { Agent, Simulation, type Wire, originate, proxied, systemId, testConfig } from '../simulation.fixture.ts';
import { purgeForeign } from './store.ts';
import type { SpeakerConfig } from '../state.ts';

let simulation: Simulation;
let a: Agent;
let b: Agent;
let wire: Wire;
let give: (pdu: Uint8Array) => void;

function up(overrides: Partial<SpeakerConfig> = {}): void {
  ({ simulation, a, b, wire, give } = adjacency(overrides));
}

beforeEach(() => up());

describe('LSPs that contradict stored ones', () => {
  const stored = (agent: Agent, key: string): unknown => agent.speaker.levels.get(2)!.lsdb.byKey.get(key);

  test('same sequence number, different contents: counted, purged, and flooded as a purge', () => {
    give(lsp());
    give(lsp({ tlvs: [{ kind: 'hostname', name: 'other' }] }));
    expect(a.count('isis.lsp.confusion')).toBe(1);
    expect(stored(a, `${C}.00-00`)).toMatchObject({ purged: true, sequence: 7 });
    const purges: number[] = [];
    wire.filter = (pdu) => {
      if (pdu.kind === 'lsp' && pdu.remainingLifetime === 0) purges.push(pdu.sequence);
      return true;
    };
    give(lsp({ sequence: 8 }));
    expect(stored(a, `${C}.00-00`)).toMatchObject({ purged: false, sequence: 8 });
  });

  test('a purge that still has the LSP’s TLVs withdraws its prefixes; an LSP with the same TLVs restores them', () => {
    const tlvs: IsisTlv[] = [tlv236(prefixEntry('2001:db8::/32'))];
    // A fragment of B, which A reaches.
    const advertise = (sequence: number, remainingLifetime: number): number => {
      give(lsp({ sequence, remainingLifetime, tlvs, lspId: { systemId: systemId(B), pseudonode: 0, fragment: 9 } }));
      return a.prefixes().length;
    };
    expect([advertise(7, 1200), advertise(8, 1200), advertise(9, 0), advertise(10, 1200)]).toEqual([1, 1, 0, 1]);
  });

  test('a foreign purge of our LSP is outbid', () => {
    const own = a.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-00`)!;
    give(lsp({ sequence: own.sequence, remainingLifetime: 0 }, A));
    simulation.run(1000);
    expect(a.count('isis.own.foreign-purge')).toBe(1);
    expect(stored(b, `${A}.00-00`)).toMatchObject({ purged: false, sequence: own.sequence + 1 });
  });

  test('our LSP with different contents and the same sequence number is outbid', () => {
    const own = a.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-00`)!;
    give(lsp({ sequence: own.sequence }, A));
    simulation.run(1000);
    expect(a.count('isis.own.confusion')).toBe(1);
    expect(stored(b, `${A}.00-00`)).toMatchObject({ purged: false, sequence: own.sequence + 1 });
  });

  test('an older version of our LSP is answered at once with the current one, not a new one', () => {
    const own = a.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-00`)!;
    const [issued, sent] = [a.count('isis.own.issued'), a.count('isis.tx.lsp')];
    const { raw, sequence } = own;
    give(lsp({ sequence: sequence - 1 }, A));
    expect({ isisTxLsp: a.count('isis.tx.lsp') - sent, isisOwnIssued: a.count('isis.own.issued') - issued }).toEqual({
      isisTxLsp: 1,
      isisOwnIssued: 0,
    });
    expect(stored(a, `${A}.00-00`)).toMatchObject({ sequence, raw });
  });

  test.each([
    [1, 1, 1],
    [2, 1, 1],
    [1, 3, 3],
    [2, 3, 3],
  ] as const)(
    'the purge of a level-%i LSP of IS type %i is its header with our system ID and the same IS type',
    (level, isType, kept) => {
      const { a: agent, give: advertise } = adjacency({ levels: [1, 2] });
      const lspId = { systemId: systemId(C), pseudonode: 3, fragment: 5 };
      const state = agent.speaker.levels.get(level)!;
      advertise(lsp({ level, isType, lspId, sequence: 42, tlvs: [{ kind: 'hostname', name: 'gone' }] }));
      const key = `${C}.03-05`;
      purgeForeign(agent.speaker, state, state.lsdb.byKey.get(key)!);
      const purge = state.lsdb.byKey.get(key)!;
      expect(decodePdu(purge.raw)).toMatchObject({
        ok: true,
        value: {
          ...{ kind: 'lsp', level, remainingLifetime: 0, lspId, sequence: 42, isType: kept, overload: false },
          tlvs: [{ kind: 'purge-originator', originator: systemId(A) }],
        },
      });
      expect(purge).toMatchObject({ purged: true, expiresAt: agent.speaker.now + 60_000 });
      expect([...state.srm]).toEqual([[key, agent.speaker.now]]);
    },
  );

  test('a fragment or pseudonode LSP with our system ID that we do not originate is purged', () => {
    give(lsp({ lspId: { systemId: systemId(A), pseudonode: 0, fragment: 77 } }, A));
    give(lsp({ lspId: { systemId: systemId(A), pseudonode: 3, fragment: 0 } }, A));
    simulation.run(1000);
    expect(a.count('isis.own.unknown-fragment-purged')).toBe(2);
    // B never had them, so it only acknowledges the purges.
    expect(a.speaker.levels.get(2)!.srm.size).toBe(0);
  });

  test('a neighbor that outbids every issue is answered ever more slowly', () => {
    const start = a.count('isis.own.issued');
    wire.filter = (pdu, from, bytes) => {
      if (from === 0 && pdu.kind === 'lsp' && pdu.remainingLifetime > 0) {
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        a.deliver(lsp({ sequence: view.getUint32(20) + 1 }, A));
      }
      return true;
    };
    give(lsp({ sequence: 0x100000 }, A));
    simulation.run(40_000);
    expect(a.count('isis.own.issued') - start).toBeLessThanOrEqual(7);
  });
});

describe('synchronization', () => {
  test('LSPs missing from a CSNP within its range are sent at once; listed ones are not', () => {
    const sent = (): number => a.count('isis.tx.lsp');
    const before = sent();
    give(csnp());
    const own = a.speaker.levels.get(2)!.lsdb.byKey;
    expect(sent() - before).toBe(own.size);
    simulation.run(5000);
    const quiet = sent();
    const entries = [...own.values()].map((l) =>
      entry({ lspId: readLspId(l.raw, 12), sequence: l.sequence, checksum: l.checksum }),
    );
    give(csnp({}, entries));
    give(csnp({ start: LAST_LSP_ID }));
    expect(sent()).toBe(quiet);
  });

  test('without any CSNP everything is sent after a grace period', () => {
    const net = new Simulation();
    const [x, y] = [new Agent(net, testConfig(A)), new Agent(net, testConfig(C, { seed: 2 }))];
    net.wire(x.attach, y.attach).filter = (pdu) => pdu.kind !== 'csnp';
    x.event(originate([proxied('2001:db8:1::/64')]));
    net.run(400);
    expect(y.prefixes()).toHaveLength(1);
    y.event({ type: 'link-down', reason: 'test' });
    y.event({ type: 'link-up', linkLocal: address('fe80::2') });
    const before = x.count('isis.tx.lsp');
    net.run(10_000);
    expect(x.count('isis.tx.lsp') - before).toBeGreaterThanOrEqual(x.speaker.levels.get(2)!.lsdb.byKey.size);
  });
});

describe('floods', () => {
  const foreign = (i: number, tlvs: IsisTlv[] = []): Uint8Array => {
    const id = systemId(C).slice();
    id.set([i >> 8, i & 255], 2);
    return lsp({ lspId: { systemId: id, pseudonode: 0, fragment: 0 }, tlvs });
  };
  const prefixes = (i: number): IsisTlv => ({
    kind: 'ipv6-reachability',
    prefixes: Array.from({ length: 10 }, (_, k) => ({
      prefix: { address: { family: 6, value: (0x20010db8n << 96n) | (BigInt(i * 16 + k) << 64n) }, length: 64 },
      metric: 10,
      down: false,
      external: false,
      subTlvs: [],
    })),
  });

  test('5,000 foreign LSPs at once: handled in turns of at most 8, each acknowledged, hellos not delayed', () => {
    let acked = 0;
    wire.filter = (pdu) => {
      if (pdu.kind === 'psnp')
        acked += pdu.tlvs.reduce((n, t) => n + (t.kind === 'lsp-entries' ? t.entries.length : 0), 0);
      return true;
    };
    for (let i = 0; i < 5000; i++) a.deliver(foreign(i, [prefixes(i)]));
    const turns: number[] = [];
    while (a.wakeAt() === -Infinity) {
      const before = a.count('isis.rx.lsp');
      a.wake();
      turns.push(a.count('isis.rx.lsp') - before);
    }
    expect(Math.max(...turns)).toBeLessThanOrEqual(8);
    expect(a.speaker.levels.get(2)!.lsdb.byKey.size).toBeGreaterThanOrEqual(5000);
    simulation.run(1000);
    expect(acked).toBe(5000);
    expect(a.state).toBe('up');
  });

  test('LSPs beyond the database limit are refused and counted, not acknowledged', () => {
    up({ lsdbLimit: 100 });
    for (let i = 0; i < 200; i++) a.deliver(foreign(i));
    simulation.run(1000);
    expect(a.speaker.levels.get(2)!.lsdb.byKey.size).toBeLessThanOrEqual(101);
    expect(a.count('isis.lsdb.full')).toBeGreaterThan(90);
    expect(a.state).toBe('up');
  });

  test('PDUs beyond the inbox limit are dropped and counted', () => {
    for (let i = 0; i < 9000; i++) a.deliver(foreign(i));
    expect(a.count('isis.rx.queue-full')).toBe(9000 - 8192);
  });

  test('a hello is handled before waiting LSPs', () => {
    for (let i = 0; i < 1000; i++) a.deliver(foreign(i));
    a.deliver(hello());
    const before = a.count('isis.rx.hello');
    a.wake();
    expect(a.count('isis.rx.hello')).toBe(before + 1);
  });
});
