// HMAC-MD5 on hellos, LSPs and SNPs (RFC 5304), purges (RFC 6233), and keys that change.
import { beforeEach, describe, expect, test } from 'vitest';
import { signPdu } from '../../packet/isis/auth.ts';
import { setRemainingLifetime } from '../../packet/isis/lsp.ts';
import type { IsisTlv } from '../../packet/isis/types.ts';
import { B, C, adjacency, csnp, entry, hello, lsp } from './hostile.fixture.ts';
import { type Agent, type Simulation, originate, proxied, systemId } from './simulation.fixture.ts';
import type { SpeakerConfig } from './state.ts';

let simulation: Simulation;
let a: Agent;
let b: Agent;
let give: (pdu: Uint8Array) => void;

function up(overrides: Partial<SpeakerConfig> = {}): void {
  ({ simulation, a, b, give } = adjacency(overrides));
}

beforeEach(() => up());

describe('authentication', () => {
  const keys = (name: string): SpeakerConfig['keys'] => ({
    interface: Buffer.from(`${name}-i`),
    area: Buffer.from(`${name}-a`),
    domain: Buffer.from(`${name}-d`),
  });

  test('the same keys on both ends: everything works', () => {
    up({ keys: keys('k'), levels: [1, 2] });
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(3000);
    expect(b.prefixes()).toHaveLength(2);
    expect([...b.counters.keys()].filter((name) => name.includes('auth'))).toEqual([]);
  });

  test.each([
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

  test.each([
    ['signed with another key', (pdu: Uint8Array) => signPdu(pdu, Buffer.from('other'))],
    ['not signed', (pdu: Uint8Array) => pdu],
  ])('what is %s does nothing: no hello ends the adjacency, no LSP is stored, no SNP is answered', (_what, sign) => {
    up({ keys: keys('k') });
    simulation.run(10_000);
    const { holdUntil } = a.speaker.adjacency!;
    const sent = a.count('isis.tx.lsp') + a.count('isis.tx.psnp');
    give(sign(hello({ holdingTime: 600 })));
    give(sign(hello({ systemId: systemId(C) })));
    give(sign(lsp()));
    give(
      sign(
        lsp({
          lspId: { systemId: systemId(B), pseudonode: 0, fragment: 0 },
          sequence: 0xffffff00,
          remainingLifetime: 0,
        }),
      ),
    );
    give(sign(csnp()));
    give(sign(csnp({}, [entry()])));
    const { byKey } = a.speaker.levels.get(2)!.lsdb;
    expect([a.state, a.speaker.adjacency!.holdUntil, byKey.has(`${C}.00-00`), byKey.get(`${B}.00-00`)!.purged]).toEqual(
      ['up', holdUntil, false, false],
    );
    simulation.run(2000);
    expect([a.count('isis.tx.lsp') + a.count('isis.tx.psnp'), a.count('isis.lsp.requested')]).toEqual([sent, 0]);
  });

  test('another kind of authentication is counted as unsupported', () => {
    up({ keys: keys('k') });
    give(lsp({ tlvs: [{ kind: 'authentication', authType: 1, value: Buffer.from('secret') }] }));
    expect(a.count('isis.auth.domain.unsupported')).toBe(1);
  });

  test('a signed purge with TLVs that RFC 6233 forbids is refused', () => {
    up({ keys: keys('k') });
    give(signPdu(lsp(), Buffer.from('k-d')));
    expect(a.speaker.levels.get(2)!.lsdb.byKey.has(`${C}.00-00`)).toBe(true);
    const purge = signPdu(lsp({ tlvs: [{ kind: 'area-addresses', areas: [Uint8Array.of(1)] }] }), Buffer.from('k-d'));
    setRemainingLifetime(purge, 0);
    give(purge);
    expect(a.count('isis.purge.forbidden-tlv')).toBe(1);
    expect(a.speaker.levels.get(2)!.lsdb.byKey.get(`${C}.00-00`)).toMatchObject({ purged: false });
  });

  test.each<[string, IsisTlv[]]>([
    ['nothing', []],
    ['the originator of the purge (TLV 13)', [{ kind: 'purge-originator', originator: systemId(B) }]],
    ['a hostname (TLV 137)', [{ kind: 'hostname', name: 'r1' }]],
    ['a fingerprint (TLV 15)', [{ kind: 'unknown', type: 15, value: new Uint8Array(20) }]],
  ])('a signed purge with %s is taken (RFC 6233 §2)', (_what, tlvs) => {
    up({ keys: keys('k') });
    give(signPdu(lsp(), Buffer.from('k-d')));
    const purge = signPdu(lsp({ tlvs }), Buffer.from('k-d'));
    setRemainingLifetime(purge, 0);
    give(purge);
    expect([
      a.count('isis.purge.forbidden-tlv'),
      a.speaker.levels.get(2)!.lsdb.byKey.get(`${C}.00-00`)!.purged,
    ]).toEqual([0, true]);
  });

  test('an unknown TLV in a signed purge is forbidden, and one that is not signed by anybody may have it', () => {
    const unknown: IsisTlv = { kind: 'unknown', type: 250, value: new Uint8Array(4) };
    up({ keys: keys('k') });
    give(signPdu(lsp(), Buffer.from('k-d')));
    const purge = signPdu(lsp({ tlvs: [unknown] }), Buffer.from('k-d'));
    setRemainingLifetime(purge, 0);
    give(purge);
    expect(a.count('isis.purge.forbidden-tlv')).toBe(1);
    up();
    give(lsp());
    give(lsp({ tlvs: [unknown], remainingLifetime: 0 }));
    expect(a.count('isis.purge.forbidden-tlv')).toBe(0);
  });

  test('keys change while running: every LSP is signed anew', () => {
    up();
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(2000);
    const { config } = a.speaker;
    for (const agent of [a, b]) agent.event({ type: 'configure', config: { ...config, keys: keys('new') } });
    simulation.run(10_000);
    expect([a.state, b.state]).toEqual(['up', 'up']);
    a.event(originate([proxied('2001:db8:2::/64')]));
    simulation.run(2000);
    expect(b.prefixes().map((p) => p.prefix)).toEqual([proxied('2001:db8:2::/64').prefix]);
    expect(b.count('isis.auth.domain.missing')).toBe(0);
  });
});
