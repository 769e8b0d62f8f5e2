import { describe, expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { type ServiceManager, serviceManager } from './service-manager.ts';

const DONE = { ok: true, errors: [] };

function systemd(env: Record<string, string> = {}) {
  const sent: string[] = [];
  const warnings: string[] = [];
  const clock = manualClock();
  const loop: { refuse: boolean; polled: (() => void)[] } = { refuse: false, polled: [] };
  const manager: ServiceManager = serviceManager({ NOTIFY_SOCKET: '@systemd', ...env }, 7, {
    log: { ...silentLog, warn: (_fields, message) => void warnings.push(message) },
    clock,
    send: (path, text) => {
      if (loop.refuse) throw new Error('queue full');
      sent.push(`${path} ${text.replaceAll('\n', '|')}`);
    },
    monotonicUsec: () => 42n,
    afterPoll: (run) => void loop.polled.push(run),
  });
  const turn = (): void => {
    for (const run of loop.polled.splice(0)) run();
  };
  return { manager, sent, warnings, clock, loop, turn };
}

describe('sd_notify', () => {
  test('nothing is sent without NOTIFY_SOCKET', async () => {
    const manager = serviceManager({}, 7, { log: silentLog, send: () => expect.unreachable() });
    manager.ready();
    expect(await manager.reloading(() => Promise.resolve(DONE))).toBe(DONE);
    manager.stopping();
  });

  test('READY, RELOADING with the time of its begin, READY again, STOPPING', async () => {
    const { manager, sent } = systemd();
    manager.ready();
    await manager.reloading(() => Promise.resolve(DONE));
    manager.stopping();
    expect(sent).toEqual([
      '@systemd READY=1|STATUS=running',
      '@systemd RELOADING=1|MONOTONIC_USEC=42|STATUS=reading the configuration again',
      '@systemd READY=1|STATUS=running',
      '@systemd STOPPING=1|STATUS=withdrawing what was advertised; forwarding and notification stay',
    ]);
  });

  test('a reload that was refused, that waits for a restart or that failed shows in the text, on one line', async () => {
    const { manager, sent } = systemd();
    await manager.reloading(() => Promise.resolve({ ok: false, errors: ['line 1:\n  READY=0', 'more'] }));
    expect(sent.at(-1)).toContain('READY=1|STATUS=running; the last reload was refused');
    expect(sent.at(-1)).toMatch(/line 1: READY=0$/);
    await manager.reloading(() => Promise.resolve({ ok: true, errors: ['gnmi.socket: restart cnpd'] }));
    expect(sent.at(-1)).toMatch(/not in force: gnmi.socket: restart cnpd$/);
    await expect(manager.reloading(() => Promise.reject(new Error('no kernel')))).rejects.toThrow('no kernel');
    expect(sent.at(-1)).toMatch(/READY=1\|STATUS=running; the last reload failed: no kernel$/);
  });

  test('a state that could not be sent is logged and sent again; a newer one replaces it', () => {
    const { manager, sent, warnings, clock, loop } = systemd();
    loop.refuse = true;
    manager.ready();
    clock.advance(500);
    expect(warnings).toHaveLength(2);
    loop.refuse = false;
    clock.advance(500);
    expect(sent).toEqual(['@systemd READY=1|STATUS=running']);
    clock.advance(10_000);
    expect(sent).toHaveLength(1);
  });

  test('a reload that ends during the stop does not make the service active again', async () => {
    const { manager, sent } = systemd();
    await manager.reloading(() => {
      manager.stopping();
      return Promise.resolve(DONE);
    });
    expect(sent.at(-1)).toContain('STOPPING=1');
  });
});

describe('the watchdog', () => {
  const ENV = { WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' };

  test('is fed at half of its time from READY to STOPPING, each time after the loop has polled', () => {
    const { manager, sent, clock, turn } = systemd(ENV);
    clock.advance(60_000);
    turn();
    expect(sent).toEqual([]);
    manager.ready();
    clock.advance(15_000);
    expect(sent).toHaveLength(1);
    turn();
    expect(sent.slice(1)).toEqual(['@systemd WATCHDOG=1']);
    clock.advance(15_000);
    turn();
    expect(sent).toHaveLength(3);
    clock.advance(15_000);
    manager.stopping();
    turn();
    clock.advance(60_000);
    turn();
    expect(sent.filter((text) => text.includes('WATCHDOG'))).toHaveLength(2);
  });

  test.each([
    ['of another process', { WATCHDOG_USEC: '30000000', WATCHDOG_PID: '8' }],
    ['that is off', {}],
    ['without a time', { WATCHDOG_USEC: '0' }],
  ])('one %s is not fed', (_name, env) => {
    const { manager, sent, clock, turn } = systemd(env);
    manager.ready();
    clock.advance(600_000);
    turn();
    expect(sent).toHaveLength(1);
  });
});
