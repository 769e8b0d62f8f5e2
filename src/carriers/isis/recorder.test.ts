// A recorded run replays exactly.
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { parseRecorded, recordEvent } from './recorder.fixture.ts';
import { Agent, Simulation, endCon, originate, proxied, testConfig } from './simulation.fixture.ts';
import type { Effect, SpeakerEvent } from './state.ts';
import { createSpeaker, handle } from './speaker.ts';

const A = '0000.0000.000a';

test('the same events at the same times have the same effects, byte for byte', () => {
  const simulation = new Simulation();
  const lines: string[] = [];
  const effects: Effect[] = [];
  class Recorded extends Agent {
    override event(event: SpeakerEvent): void {
      lines.push(recordEvent(simulation.now, event));
      super.event(event);
    }
    protected override carryOut(effect: Effect): void {
      effects.push(effect);
      super.carryOut(effect);
    }
  }
  const a = new Recorded(simulation, testConfig(A));
  const b = new Agent(simulation, testConfig('0000.0000.000b', { seed: 2 }));
  simulation.wire(a.attach, b.attach);
  a.event(
    originate([proxied('2001:db8:1::/64'), proxied('10.0.0.0/8', '192.0.2.1')], {
      sids: [endCon('2001:db8:c::1', '2001:db8:c::/48')],
      routerAddresses: [address('192.0.2.1')],
      identity: [address('2001:db8:ffff::1')],
    }),
  );
  b.event(originate([proxied('2001:db8:2::/64')]));
  simulation.run(20_000);
  a.event({ type: 'configure', config: { ...a.speaker.config, helloIntervalMs: 1000 } });
  simulation.run(20_000);
  a.event({ type: 'link-down', reason: 'test' });
  a.event({ type: 'stop' });
  expect(effects.length).toBeGreaterThan(50);

  const again = createSpeaker(testConfig(A), A);
  const replayed = lines.map(parseRecorded).flatMap(({ now, event }) => handle(again, event, now));
  expect(replayed).toEqual(effects);
});

test('keys are not recorded; the rest of the configuration is', () => {
  const config = { ...testConfig(A, { keys: { domain: Uint8Array.of(1, 2, 3) } }), helloIntervalMs: 777 };
  const line = recordEvent(5, { type: 'configure', config });
  expect(parseRecorded(line)).toMatchObject({
    now: 5,
    event: { type: 'configure', config: { helloIntervalMs: 777, holdMultiplier: 10, keys: {} } },
  });
  expect(Object.keys((JSON.parse(line) as { config: { keys: object } }).config.keys)).toEqual([]);
});

test.each<[string, SpeakerEvent]>([
  ['a PDU', { type: 'received', pdu: Uint8Array.of(0x83, 0, 255) }],
  ['a link that comes up', { type: 'link-up', linkLocal: address('fe80::1') }],
  ['a link that goes down', { type: 'link-down', reason: 'gone' }],
  ['a timer', { type: 'timer' }],
  ['a stop', { type: 'stop' }],
  ['a declaration of nothing', originate([])],
  ['a declaration without an identity', originate([proxied('2001:db8:1::/64')])],
  ['a declaration with one', originate([], { identity: [address('192.0.2.1'), address('2001:db8::1')] })],
  [
    'a declaration of each kind',
    originate([proxied('10.0.0.0/8', '192.0.2.1')], {
      sids: [endCon('2001:db8:c::1', '2001:db8:c::/48')],
      routerAddresses: [address('192.0.2.1')],
    }),
  ],
])('%s is read back unchanged', (_what, event) =>
  expect(parseRecorded(recordEvent(42, event))).toEqual({ now: 42, event }),
);
