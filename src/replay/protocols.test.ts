// What is recorded of IS-IS and OSPF replays to the same state, with keys that the recording does not have.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { type Clock, manualClock } from '../model/clock.ts';
import { beginTape as beginIsis } from '../carriers/isis/recorded.ts';
import { databaseState, neighborState } from '../carriers/isis/show.ts';
import { Agent, Simulation, endCon, originate, proxied, testConfig } from '../carriers/isis/simulation.fixture.ts';
import type { SpeakerConfig, SpeakerEvent } from '../carriers/isis/state.ts';
import { beginTape as beginOspf } from '../carriers/ospf/recorded.ts';
import { AREA, Link, Router, VERSIONS, testConfig as ospfConfig } from '../carriers/ospf/simulation.fixture.ts';
import { lspChecksum } from '../packet/isis/checksum.ts';
import { maskPdu } from '../packet/isis/masked.ts';
import { decodePdu, encodePdu } from '../packet/isis/pdu.ts';
import { PROXY_LSP } from '../packet/isis/vectors.fixture.ts';
import { signPacketV2 } from '../packet/ospf/auth-v2.ts';
import { signPacketV3 } from '../packet/ospf/auth-v3.ts';
import { maskPacket } from '../packet/ospf/masked.ts';
import { encodePacket } from '../packet/ospf/packet.ts';
import type { OspfPacket } from '../packet/ospf/types.ts';
import { LIMITS, recordings } from '../recorder/recorder.fixture.ts';
import { replay } from './replay.ts';

const { recorder: newRecorder } = recordings();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const A = '0000.0000.000a';
const HELLO = {
  ...{ kind: 'hello', routerId: 1, areaId: 0, instanceId: 0, networkMask: 0, interfaceId: 1, options: 0 },
  ...{
    helloInterval: 10,
    deadInterval: 40,
    priority: 0,
    designatedRouter: 0,
    backupDesignatedRouter: 0,
    neighbors: [],
  },
} as unknown as OspfPacket;
const SECRETS = ['interface-secret', 'area-secret', 'domain-secret', 'domain-secret-2'];
const KEYS = { interface: bytes(SECRETS[0]!), area: bytes(SECRETS[1]!), domain: bytes(SECRETS[2]!) };

async function recordIsis() {
  const simulation = new Simulation();
  const clock: Clock = { ...manualClock(), now: () => simulation.now };
  const { recorder } = newRecorder(clock);
  await recorder.start(LIMITS);
  const config: SpeakerConfig = testConfig(A, { levels: [1, 2], keys: KEYS });
  const tape = beginIsis(recorder, 0, { ...config, interface: 'cnpd-isis' })!;
  class Recorded extends Agent {
    override event(event: SpeakerEvent): void {
      tape.event(simulation.now, event);
      super.event(event);
    }
  }
  const a = new Recorded(simulation, { ...config, findings: tape });
  const b = new Agent(simulation, testConfig('0000.0000.000b', { seed: 2, levels: [1, 2], keys: KEYS }));
  simulation.wire(a.attach, b.attach);
  const sids = [endCon('2001:db8:c::1', '2001:db8:c::/48')];
  a.event(originate([proxied('2001:db8:1::/64'), proxied('10.0.0.0/8', '192.0.2.1')], { sids }));
  b.event(originate([proxied('2001:db8:2::/64')]));
  simulation.run(20_000);
  const other = { ...KEYS, domain: bytes(SECRETS[3]!) };
  // A key changes at one end first: what is signed with it is refused for a while.
  a.event({ type: 'configure', config: { ...a.speaker.config, helloIntervalMs: 1000, keys: other } });
  simulation.run(5000);
  b.event(originate([proxied('2001:db8:2::/64'), proxied('2001:db8:3::/64')]));
  simulation.run(15_000);
  b.event({ type: 'configure', config: { ...b.speaker.config, keys: other } });
  simulation.run(60_000);
  const status = await recorder.stop();
  return { a, file: status.file!, moment: { now: simulation.now, toWall: 0 } };
}

test('IS-IS with keys: the same database, adjacency, learned proxies and counters', async () => {
  const { a, file, moment } = await recordIsis();
  const { machines, table, counters, now, end } = replay(file);
  const { speaker, config } = machines.isis!;
  expect({ now, end }).toEqual({ now: moment.now, end: 'stopped' });
  expect(a.count('isis.auth.domain.wrong-key')).toBeGreaterThan(0);
  expect(databaseState(speaker, now)).toEqual(databaseState(a.speaker, now));
  expect(databaseState(speaker, now).length).toBeGreaterThanOrEqual(4);
  expect(neighborState(speaker, config.interface, moment)).toEqual(neighborState(a.speaker, 'cnpd-isis', moment));
  expect(neighborState(speaker, config.interface, moment)).toMatchObject([{ state: 'up' }]);
  expect(Object.fromEntries(counters)).toEqual(Object.fromEntries(a.counters));
  const learned = table.entries().filter(({ carrier }) => carrier === 'isis');
  expect(learned.map(({ prefix, proxy }) => `${prefix} ${proxy}`)).toEqual([
    '2001:db8:2::/64 2001:db8:ffff::1',
    '2001:db8:2::/64 2001:db8:ffff::1',
    '2001:db8:3::/64 2001:db8:ffff::1',
    '2001:db8:3::/64 2001:db8:ffff::1',
  ]);
});

test('neither keys nor digests are in a recording', async () => {
  const { a, file } = await recordIsis();
  const text = readFileSync(file, 'utf8');
  for (const secret of SECRETS) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret).toString('hex'));
  }
  // The digest of the last LSP that was received, and of one that was sent.
  const digests = [...a.speaker.levels.values()].flatMap(({ lsdb }) =>
    [...lsdb.byKey.values()].map(({ raw }) => Buffer.from(raw.subarray(30, 46)).toString('hex')),
  );
  expect(digests.length).toBeGreaterThanOrEqual(4);
  for (const digest of digests) expect(text).not.toContain(digest.slice(4));
});

test.each(VERSIONS)('%s with keys: the same database, and the same reasons to refuse', async (_name, version) => {
  let time = (): number => 0;
  const { recorder } = newRecorder({ ...manualClock(), now: () => time() });
  await recorder.start(LIMITS);
  const secret = 'ospf-secret-key';
  const keys = [{ id: 1, algorithm: 'hmac-sha-256', secret: bytes(secret) }] as const;
  const config = ospfConfig(1, version, { keys });
  const tape = beginOspf(recorder, 0, config)!;
  const router = new Router({ ...config, findings: tape });
  router.before = (event, now) => tape.event(now, event);
  const other = new Router(ospfConfig(2, version, { keys }));
  const link = new Link(router, other);
  time = () => link.now;
  link.until('full', () => router.state === 'full');
  link.event(1, { type: 'keys', areaId: AREA, keys: [{ ...keys[0], secret: bytes('other') }] });
  link.run(15_000);
  expect(router.area.refused).toMatch(/authentication wrong/);
  link.event(1, { type: 'keys', areaId: AREA, keys });
  link.event(0, { type: 'keys', areaId: AREA, keys });
  link.run(60_000);
  const { file } = await recorder.stop();
  const { machines, counters, now } = replay(file!);
  const again = Object.assign(new Router(config), { speaker: machines[version.name]! });
  expect(again.database(now)).toEqual(router.database(now));
  expect(again.database(now).length).toBeGreaterThanOrEqual(2);
  expect(again.state).toBe('full');
  const sequences = again.area.neighbor!.authenticationSequences;
  expect(sequences).toEqual(router.area.neighbor!.authenticationSequences);
  expect(Object.fromEntries(counters)).toEqual(Object.fromEntries(router.counters));
  const text = readFileSync(file!, 'utf8');
  expect(text).not.toContain(Buffer.from(secret).toString('hex'));
});

test('the digests of OSPF are masked', () => {
  const at = { address: address('fe80::1') };
  for (const [, { version }] of VERSIONS) {
    const keys = [{ id: 1, algorithm: 'hmac-sha-256', secret: bytes('k') }] as const;
    const plain = encodePacket(version, HELLO, { source: at.address, destination: at.address });
    const signed = version === 2 ? signPacketV2(plain, keys[0], 7) : signPacketV3(plain, keys[0], 7n, at.address);
    const masked = maskPacket(version, signed);
    expect(signed.subarray(-32)).not.toEqual(new Uint8Array(32));
    expect(masked.subarray(-32)).toEqual(new Uint8Array(32));
    expect(masked.subarray(0, -32)).toEqual(signed.subarray(0, -32));
  }
});

test('a password in the clear is masked, and the checksum of an LSP stays right', () => {
  const value = bytes('\u0001hunter2hunter2');
  const decoded = decodePdu(PROXY_LSP);
  if (!decoded.ok || decoded.value.kind !== 'lsp') throw new Error('no LSP');
  const lsp = encodePdu({ ...decoded.value, tlvs: [{ kind: 'unknown', type: 10, value }, ...decoded.value.tlvs] });
  const masked = maskPdu(lsp);
  expect(Buffer.from(lsp).toString('latin1')).toContain('hunter2');
  expect(Buffer.from(masked).toString('latin1')).not.toContain('unter');
  expect(masked).toHaveLength(lsp.length);
  expect(lspChecksum(masked)).toBe(lspChecksum(lsp));
  expect(decodePdu(masked).ok).toBe(true);
});
