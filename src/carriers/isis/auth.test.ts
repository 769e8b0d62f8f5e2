// HMAC-MD5 on hellos, LSPs and SNPs (RFC 5304), purges (RFC 6233), and changes of keys.
import { beforeEach, describe, expect, test } from 'vitest';
import { signPdu } from '../../packet/isis/auth.ts';
import { setRemainingLifetime } from '../../packet/isis/lsp.ts';
import type { IsisTlv } from '../../packet/isis/tlv/types.ts';
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

  test('with the same keys on both ends the adjacency comes up and LSPs are exchanged', () => {
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
  ])('a PDU %s has no effect: no hello ends the adjacency, no LSP is stored, no SNP is answered', (_what, sign) => {
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
    expect({
      state: a.state,
      holdUntil: a.speaker.adjacency!.holdUntil,
      hasByKey: byKey.has(`${C}.00-00`),
      purged: byKey.get(`${B}.00-00`)!.purged,
    }).toEqual({ state: 'up', holdUntil, hasByKey: false, purged: false });
    simulation.run(2000);
    expect({
      sent: a.count('isis.tx.lsp') + a.count('isis.tx.psnp'),
      requested: a.count('isis.lsp.requested'),
    }).toEqual({ sent, requested: 0 });
  });

  test('other authentication is counted as unsupported', () => {
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
  ])('a signed purge with %s is accepted (RFC 6233 §2)', (_what, tlvs) => {
    up({ keys: keys('k') });
    give(signPdu(lsp(), Buffer.from('k-d')));
    const purge = signPdu(lsp({ tlvs }), Buffer.from('k-d'));
    setRemainingLifetime(purge, 0);
    give(purge);
    expect({
      isisPurgeForbiddenTlv: a.count('isis.purge.forbidden-tlv'),
      purged: a.speaker.levels.get(2)!.lsdb.byKey.get(`${C}.00-00`)!.purged,
    }).toEqual({ isisPurgeForbiddenTlv: 0, purged: true });
  });

  test('an unknown TLV is forbidden in a signed purge and allowed in an unsigned one', () => {
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

  test('after a change of keys every LSP is signed again', () => {
    up();
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(2000);
    const { config } = a.speaker;
    for (const agent of [a, b]) agent.event({ type: 'configure', config: { ...config, keys: keys('new') } });
    simulation.run(10_000);
    expect({ aState: a.state, bState: b.state }).toEqual({ aState: 'up', bState: 'up' });
    a.event(originate([proxied('2001:db8:2::/64')]));
    simulation.run(2000);
    expect(b.prefixes().map((p) => p.prefix)).toEqual([proxied('2001:db8:2::/64').prefix]);
    expect(b.count('isis.auth.domain.missing')).toBe(0);
  });
});
