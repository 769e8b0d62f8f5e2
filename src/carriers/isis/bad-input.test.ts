// Bad input: each kind counted under a name of its own, nothing crashes, the adjacency stays.
import { beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { address } from '../../model/address.ts';
import { signPdu } from '../../packet/isis/auth.ts';
import { FIRST_LSP_ID, LAST_LSP_ID } from '../../packet/isis/lsp-id.ts';
import { setRemainingLifetime } from '../../packet/isis/lsp.ts';
import { encodePdu } from '../../packet/isis/pdu.ts';
import type { IsisTlv, Lsp, LspEntry, P2pHello } from '../../packet/isis/types.ts';
import { Agent, Simulation, type Wire, proxied, systemId, testConfig } from './simulation.fixture.ts';
import type { SpeakerConfig } from './speaker.ts';

const A = '0000.0000.000a';
const B = '0000.0000.000b';
const C = '0000.0000.000c';

let simulation: Simulation;
let a: Agent;
let b: Agent;
let wire: Wire;

function up(overrides: Partial<SpeakerConfig> = {}): void {
  simulation = new Simulation();
  a = new Agent(simulation, testConfig(A, overrides));
  b = new Agent(simulation, testConfig(B, { seed: 2, ...overrides }));
  wire = simulation.wire(a.attach, b.attach);
  simulation.run(2000);
}

beforeEach(() => up());

function lsp(fields: Partial<Lsp> = {}, system = C): Uint8Array {
  return encodePdu({
    kind: 'lsp',
    level: 2,
    remainingLifetime: 1200,
    lspId: { systemId: systemId(system), pseudonode: 0, fragment: 0 },
    sequence: 7,
    checksum: 0,
    partitionRepair: false,
    attached: false,
    overload: false,
    isType: 3,
    tlvs: [],
    ...fields,
  });
}

function hello(fields: Partial<P2pHello> = {}, tlvs?: IsisTlv[]): Uint8Array {
  const threeWay: IsisTlv = { kind: 'three-way-adjacency', state: 'up', circuitId: 1, neighborSystemId: systemId(A), neighborCircuitId: 1 };
  const area: IsisTlv = { kind: 'area-addresses', areas: [Uint8Array.of(0x49, 0, 1)] };
  return encodePdu({ kind: 'p2p-hello', circuitType: 2, systemId: systemId(B), holdingTime: 30, localCircuitId: 1, tlvs: tlvs ?? [area, threeWay], ...fields });
}

const entry = (fields: Partial<LspEntry> = {}): LspEntry => ({
  remainingLifetime: 1200,
  lspId: { systemId: systemId(C), pseudonode: 0, fragment: 0 },
  sequence: 7,
  checksum: 0x1234,
  ...fields,
});

function csnp(fields: object = {}, entries: LspEntry[] = []): Uint8Array {
  const tlvs: IsisTlv[] = entries.length > 0 ? [{ kind: 'lsp-entries', entries }] : [];
  return encodePdu({ kind: 'csnp', level: 2, systemId: systemId(B), start: FIRST_LSP_ID, end: LAST_LSP_ID, tlvs, ...fields });
}

function give(pdu: Uint8Array): void {
  a.deliver(pdu);
  simulation.run(10);
}

function patched(pdu: Uint8Array, at: number, ...values: number[]): Uint8Array {
  const copy = pdu.slice();
  copy.set(values, at);
  return copy;
}

describe('PDUs', () => {
  it.each([
    ['isis.pdu.truncated', () => lsp().subarray(0, 20)],
    ['isis.pdu.truncated', () => patched(lsp(), 8, 0x05, 0xdc)],
    ['isis.pdu.not-isis', () => patched(lsp(), 0, 0x82)],
    ['isis.pdu.bad-version', () => patched(lsp(), 2, 9)],
    ['isis.pdu.bad-id-length', () => patched(lsp(), 3, 8)],
    ['isis.pdu.unknown-pdu-type', () => patched(lsp(), 4, 30)],
    ['isis.pdu.bad-pdu-length', () => patched(lsp(), 8, 0, 5)],
    ['isis.pdu.bad-checksum', () => patched(lsp(), 20, 9)],
    ['isis.pdu.zero-checksum', () => patched(lsp(), 24, 0, 0)],
    ['isis.pdu.zero-sequence', () => patched(lsp(), 20, 0, 0, 0, 0)],
    ['isis.pdu.tlv-overrun', () => patched(csnp({}, [entry()]), 34, 200)],
    ['isis.pdu.bad-holding-time', () => patched(hello(), 15, 0, 0)],
    ['isis.pdu.bad-circuit-type', () => patched(hello(), 8, 0)],
    ['isis.pdu.oversized', () => lsp({ tlvs: Array.from({ length: 6 }, () => ({ kind: 'padding', length: 255 })) })],
    ['isis.hello.own-system-id', () => hello({ systemId: systemId(A) })],
    ['isis.hello.level-mismatch', () => hello({ circuitType: 1 })],
    ['isis.hello.no-three-way', () => hello({}, [])],
    ['isis.hello.not-for-us', () => hello({}, [{ kind: 'three-way-adjacency', state: 'up', circuitId: 1, neighborSystemId: systemId(C), neighborCircuitId: 1 }])],
    [
      'isis.hello.contradictory',
      () => hello({}, (['up', 'down'] as const).map((state): IsisTlv => ({ kind: 'three-way-adjacency', state, circuitId: 1 }))),
    ],
    ['isis.rx.level-not-ours', () => lsp({ level: 1 })],
    ['isis.snp.own-system-id', () => csnp({ systemId: systemId(A) })],
    ['isis.snp.wrong-source', () => csnp({ systemId: systemId(C) })],
    ['isis.csnp.bad-range', () => csnp({ start: LAST_LSP_ID, end: FIRST_LSP_ID })],
    ['isis.csnp.entry-outside-range', () => csnp({ end: FIRST_LSP_ID }, [entry()])],
    ['isis.csnp.not-ascending', () => csnp({}, [entry(), entry({ lspId: FIRST_LSP_ID })])],
    ['isis.snp.contradictory', () => csnp({}, [entry(), entry({ sequence: 8 })])],
  ])('%s', (name, make) => {
    expect(a.count(name)).toBe(0);
    give(make());
    expect(a.count(name)).toBe(1);
  });

  it('a LAN hello is counted: the other end lacks "isis network point-to-point"', () => {
    give(Uint8Array.from(Buffer.from(`831b01000f010000020000000000${'0b'}001e001b4000000000000b01`.padEnd(54, '0'), 'hex')).subarray(0, 27));
    expect(a.count('isis.hello.lan')).toBe(1);
  });

  it('an LSP before the adjacency is up is not taken', () => {
    const lonely = new Agent(simulation, testConfig(C));
    lonely.event({ type: 'link-up', linkLocal: address('fe80::1') });
    lonely.deliver(lsp({}, B));
    simulation.run(10);
    expect(lonely.count('isis.lsp.no-adjacency')).toBe(1);
    expect(lonely.speaker.levels.get(2)!.lsdb.byKey.has(`${B}.00-00`)).toBe(false);
  });

  it('a malformed TLV is skipped and counted, the rest of the LSP is used', () => {
    const bad: IsisTlv = { kind: 'unknown', type: 236, value: Uint8Array.of(0, 0, 0, 1, 0, 200, 1) };
    const good: IsisTlv = { kind: 'ipv6-reachability', prefixes: [{ prefix: proxied('2001:db8::/32').prefix, metric: 1, down: false, external: false, subTlvs: [] }] };
    give(lsp({ tlvs: [bad, good] }));
    expect([...a.counters].filter(([name]) => name.startsWith('isis.tlv.'))).toHaveLength(1);
    expect(a.prefixes()).toHaveLength(1);
  });

  it('a prefix both with and without the flag in one LSP is counted, and flagged', () => {
    const p = { prefix: proxied('2001:db8::/32').prefix, metric: 1, down: false, external: false, subTlvs: [] };
    const flagged = { ...p, subTlvs: [{ kind: 'prefix-attribute-flags', flags: Uint8Array.of(1) } as const] };
    give(lsp({ tlvs: [{ kind: 'ipv6-reachability', prefixes: [p, flagged] }] }));
    expect(a.count('isis.lsp.contradictory-prefix')).toBe(1);
    expect(a.prefixes().map((x) => x.pnc)).toEqual([true]);
  });

  it('any bytes at all: nothing throws, the adjacency stays up', () => {
    const samples = [lsp(), hello(), csnp({}, [entry()])];
    const mutated = fc
      .tuple(fc.constantFrom(...samples), fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 6 }), fc.nat(80))
      .map(([sample, changes, cut]) => {
        const copy = sample.slice();
        for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
        return copy.subarray(0, Math.max(1, copy.length - (cut > 40 ? 0 : cut)));
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ minLength: 1, maxLength: 100 })), (bytes) => {
        // Hellos that survive mutation may well take the adjacency down: that is their right.
        a.deliver(bytes);
        a.wake();
      }),
      { numRuns: 3000 },
    );
    simulation.until('adjacency up again', () => a.state === 'up' && b.state === 'up', 120_000);
  });
});

describe('authentication', () => {
  const keys = (name: string): SpeakerConfig['keys'] => ({ interface: Buffer.from(`${name}-i`), area: Buffer.from(`${name}-a`), domain: Buffer.from(`${name}-d`) });

  it('the same keys on both ends: everything works', () => {
    up({ keys: keys('k'), levels: [1, 2] });
    a.event({ type: 'originate', prefixes: [proxied('2001:db8:1::/64')] });
    simulation.run(3000);
    expect(b.prefixes()).toHaveLength(2);
    expect([...b.counters.keys()].filter((name) => name.includes('auth'))).toEqual([]);
  });

  it.each([
    ['wrong-key', (pdu: Uint8Array) => signPdu(pdu, Buffer.from('other'))],
    ['missing', (pdu: Uint8Array) => pdu],
  ])('hello, LSP and SNP with a %s are counted by scope and dropped', (reason, sign) => {
    up({ keys: keys('k'), levels: [1, 2] });
    for (const [scope, pdu] of [
      ['interface', hello({ circuitType: 3 })],
      ['domain', lsp()],
      ['area', lsp({ level: 1, isType: 1 })],
      ['domain', csnp()],
      ['area', csnp({ level: 1 })],
    ] as const) {
      const before = a.count(`isis.auth.${scope}.${reason}`);
      give(sign(pdu));
      expect(a.count(`isis.auth.${scope}.${reason}`)).toBe(before + 1);
    }
    expect(a.reports.size).toBe(0);
    expect(a.state).toBe('up');
  });

  it('another kind of authentication is counted as unsupported', () => {
    up({ keys: keys('k') });
    give(lsp({ tlvs: [{ kind: 'authentication', authType: 1, value: Buffer.from('secret') }] }));
    expect(a.count('isis.auth.domain.unsupported')).toBe(1);
  });

  it('a signed purge with TLVs that RFC 6233 forbids is refused', () => {
    up({ keys: keys('k') });
    give(signPdu(lsp(), Buffer.from('k-d')));
    expect(a.speaker.levels.get(2)!.lsdb.byKey.has(`${C}.00-00`)).toBe(true);
    const purge = signPdu(lsp({ tlvs: [{ kind: 'area-addresses', areas: [Uint8Array.of(1)] }] }), Buffer.from('k-d'));
    setRemainingLifetime(purge, 0);
    give(purge);
    expect(a.count('isis.purge.forbidden-tlv')).toBe(1);
    expect(a.speaker.levels.get(2)!.lsdb.byKey.get(`${C}.00-00`)).toMatchObject({ purged: false });
  });

  it('keys change while running: every LSP is signed anew', () => {
    up();
    a.event({ type: 'originate', prefixes: [proxied('2001:db8:1::/64')] });
    simulation.run(2000);
    const { config } = a.speaker;
    for (const agent of [a, b]) agent.event({ type: 'configure', config: { ...config, keys: keys('new') } });
    simulation.run(10_000);
    expect([a.state, b.state]).toEqual(['up', 'up']);
    a.event({ type: 'originate', prefixes: [proxied('2001:db8:2::/64')] });
    simulation.run(2000);
    expect(b.prefixes().map((p) => p.prefix)).toEqual([proxied('2001:db8:2::/64').prefix]);
    expect(b.count('isis.auth.domain.missing')).toBe(0);
  });
});

describe('LSPs that contradict what is known', () => {
  const stored = (agent: Agent, key: string): unknown => agent.speaker.levels.get(2)!.lsdb.byKey.get(key);

  it('same sequence number, other contents: counted, purged, and flooded as a purge', () => {
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

  it('a foreign purge of our LSP is outbid', () => {
    const own = a.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-00`)!;
    give(lsp({ sequence: own.sequence, remainingLifetime: 0 }, A));
    simulation.run(1000);
    expect(a.count('isis.own.foreign-purge')).toBe(1);
    expect(stored(b, `${A}.00-00`)).toMatchObject({ purged: false, sequence: own.sequence + 1 });
  });

  it('our LSP with other contents and the same number is outbid', () => {
    const own = a.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-00`)!;
    give(lsp({ sequence: own.sequence }, A));
    simulation.run(1000);
    expect(a.count('isis.own.confusion')).toBe(1);
    expect(stored(b, `${A}.00-00`)).toMatchObject({ purged: false, sequence: own.sequence + 1 });
  });

  it('a fragment, or a pseudonode, of ours that we do not have is purged', () => {
    give(lsp({ lspId: { systemId: systemId(A), pseudonode: 0, fragment: 77 } }, A));
    give(lsp({ lspId: { systemId: systemId(A), pseudonode: 3, fragment: 0 } }, A));
    simulation.run(1000);
    expect(a.count('isis.own.unknown-fragment-purged')).toBe(2);
    // B never had them, so it only acknowledges the purges.
    expect(a.speaker.levels.get(2)!.srm.size).toBe(0);
  });

  it('the highest sequence number wraps: purged, silent until everybody has forgotten, then 1', () => {
    a.event({ type: 'originate', prefixes: [proxied('2001:db8:1::/64')] });
    simulation.run(1000);
    give(lsp({ sequence: 0xffffffff, lspId: { systemId: systemId(A), pseudonode: 0, fragment: 1 } }, A));
    simulation.run(1000);
    expect(a.count('isis.own.sequence-wrap')).toBe(1);
    expect(stored(b, `${A}.00-01`)).toMatchObject({ purged: true, sequence: 0xffffffff });
    expect(b.reports.size).toBe(0);
    simulation.run(1_261_000);
    expect(stored(b, `${A}.00-01`)).toMatchObject({ purged: false, sequence: 1 });
    expect(b.reports.size).toBe(1);
  });

  it('a neighbour that answers every issue with a higher number is answered five times a second at most', () => {
    const start = a.count('isis.own.issued');
    wire.filter = (pdu, from, bytes) => {
      if (from === 0 && pdu.kind === 'lsp' && pdu.remainingLifetime > 0) {
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        a.deliver(lsp({ sequence: view.getUint32(20) + 1 }, A));
      }
      return true;
    };
    give(lsp({ sequence: 0x100000 }, A));
    simulation.run(10_000);
    expect(a.count('isis.own.issued') - start).toBeLessThanOrEqual(52);
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

  it('5,000 foreign LSPs at once: handled in turns of at most 8, each acknowledged, hellos not delayed', () => {
    let acked = 0;
    wire.filter = (pdu) => {
      if (pdu.kind === 'psnp') acked += pdu.tlvs.reduce((n, t) => n + (t.kind === 'lsp-entries' ? t.entries.length : 0), 0);
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
    expect(a.reports.size).toBe(5000);
    simulation.run(1000);
    expect(acked).toBe(5000);
    expect(a.state).toBe('up');
  });

  it('more than the database holds: refused, counted, not acknowledged', () => {
    up({ lsdbLimit: 100 });
    for (let i = 0; i < 200; i++) a.deliver(foreign(i));
    simulation.run(1000);
    expect(a.speaker.levels.get(2)!.lsdb.byKey.size).toBeLessThanOrEqual(101);
    expect(a.count('isis.lsdb.full')).toBeGreaterThan(90);
    expect(a.state).toBe('up');
  });

  it('more than the inbox holds: dropped and counted', () => {
    for (let i = 0; i < 9000; i++) a.deliver(foreign(i));
    expect(a.count('isis.rx.queue-full')).toBe(9000 - 8192);
  });

  it('a hello waits for nobody', () => {
    for (let i = 0; i < 1000; i++) a.deliver(foreign(i));
    a.deliver(hello());
    const before = a.count('isis.rx.hello');
    a.wake();
    expect(a.count('isis.rx.hello')).toBe(before + 1);
  });
});
