import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import type { NorthboundIntent } from '../intent/intent.ts';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { Certificates } from '../northbound/certificates.fixture.ts';
import type { NorthboundDependencies } from '../northbound/dependencies.ts';
import { exampleState, sourceOf } from '../northbound/state.fixture.ts';
import { eventLoopWork } from '../model/work.ts';
import { until } from '../../test/support/until.ts';
import { NorthboundPart } from './northbound-part.ts';

const freePort = async (): Promise<number> => {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

/** The common name that the server shows; undefined: nobody listens. */
const nameAt = (port: number, host = '127.0.0.1'): Promise<string | undefined> =>
  new Promise((resolve) => {
    const client = connect({ port, host, rejectUnauthorized: false }, () => {
      resolve(String(client.getPeerCertificate().subject.CN));
      client.destroy();
    });
    client.on('error', () => resolve(undefined));
  });

const dependencies = (): NorthboundDependencies => ({
  source: sourceOf(exampleState()),
  work: eventLoopWork(),
  log: silentLog,
  count: () => undefined,
  actions: {} as never,
});

const taken = async (port: number, host: string): Promise<() => Promise<void>> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return () => new Promise((resolve) => server.close(() => resolve()));
};

test('a socket of the configuration that cannot be had is a problem of its own, and had after the next reload', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cnpd-northbound-'));
  const settings = { gnmiSocket: join(dir, 'gnmi.sock') };
  const inTheWay = join(dir, 'gnmi-config.sock');
  const part = new NorthboundPart(manualClock());
  const codes = (): string[] => part.problems(settings).map(({ code }) => code);
  try {
    writeFileSync(inTheWay, '');
    await part.open(settings, dependencies());
    await part.serve(settings);
    expect(codes()).toEqual(['gnmi.config-refused']);
    rmSync(inTheWay);
    await part.serve(settings);
    expect(codes()).toEqual([]);
  } finally {
    await part.close();
    rmSync(dir, { recursive: true });
  }
});

test('gNMI over TCP follows the file, and the files of its certificates; what cannot be used is a problem', async () => {
  const files = new Certificates();
  const at = (name: string): string => files.at(name);
  const certificate = (name: string): void => {
    files.make(name);
    renameSync(at(`${name}.pem`), at('cert.pem'));
    renameSync(at(`${name}.key`), at('key.pem'));
  };
  const port = await freePort();
  const tls = { certificate: at('cert.pem'), key: at('key.pem'), clientCa: at('ca.pem') };
  const northbound: NorthboundIntent = { address: '127.0.0.1', port, tls, rights: [] };
  const settings = { gnmiSocket: at('gnmi.sock') };
  const part = new NorthboundPart(manualClock());
  const problems = (): string[] => part.problems({ ...settings, northbound }).map(({ problem }) => problem);
  try {
    certificate('first');
    copyFileSync(at('cert.pem'), at('ca.pem'));
    await part.open(settings, dependencies());
    await part.serve(settings);
    expect(await nameAt(port)).toBeUndefined();
    await part.serve({ ...settings, northbound });
    expect([await nameAt(port), problems()]).toEqual(['first', []]);
    writeFileSync(at('cert.pem'), 'nothing');
    await part.serve({ ...settings, northbound });
    expect([await nameAt(port), problems()]).toEqual([
      'first',
      [expect.stringMatching(/cert\.pem: .*served as before/)],
    ]);
    certificate('second');
    await part.serve({ ...settings, northbound });
    expect([await nameAt(port), problems()]).toEqual(['second', []]);
    await part.serve(settings);
    expect(await nameAt(port)).toBeUndefined();
  } finally {
    await part.close();
    files.remove();
  }
});

test('an address that cannot be had: gNMI over TCP is served as before, and the address is tried again', async () => {
  const files = new Certificates();
  files.make('a');
  const [pem, key] = [files.at('a.pem'), files.at('a.key')];
  const [clock, settings] = [manualClock(), { gnmiSocket: files.at('gnmi.sock') }];
  const part = new NorthboundPart(clock);
  let declared = settings as Parameters<NorthboundPart['serve']>[0];
  const serve = (address: string, port: number): Promise<void> => {
    const tls = { certificate: pem, key, clientCa: pem };
    return part.serve((declared = { ...settings, northbound: { address, port, tls, rights: [] } }));
  };
  const problem = (): string =>
    part
      .problems(declared)
      .map((each) => each.problem)
      .join();
  const [port, other] = [await freePort(), await freePort()];
  const frees: (() => Promise<void>)[] = [];
  try {
    await part.open(settings, dependencies());
    // At the start.
    frees.push(await taken(port, '127.0.0.1'));
    await serve('127.0.0.1', port);
    expect(problem()).toMatch(/EADDRINUSE[^;]*; cnpd keeps trying$/);
    await frees.pop()!();
    clock.advance(5000);
    await until('it is served', async () => (await nameAt(port)) === 'a' && problem() === '');
    // No such address, and a port that another program has.
    await serve('192.0.2.1', port);
    expect([await nameAt(port), problem()]).toEqual([
      'a',
      expect.stringMatching(/EADDRNOTAVAIL.*as before; cnpd keeps/),
    ]);
    frees.push(await taken(other, '127.0.0.1'));
    await serve('127.0.0.1', other);
    expect([await nameAt(port), problem()]).toEqual(['a', expect.stringMatching(/EADDRINUSE.*as before; cnpd keeps/)]);
    await frees.pop()!();
    clock.advance(5000);
    await until('it has moved', async () => (await nameAt(other)) === 'a' && problem() === '');
    expect(await nameAt(port)).toBeUndefined();
    // All addresses of the same port: another program has one of them.
    frees.push(await taken(other, '127.0.0.2'));
    await serve('0.0.0.0', other);
    expect([await nameAt(other), problem()]).toEqual(['a', expect.stringMatching(/EADDRINUSE.*as before; cnpd keeps/)]);
    await frees.pop()!();
    await serve('0.0.0.0', other);
    expect([await nameAt(other, '127.0.0.2'), problem()]).toEqual(['a', '']);
  } finally {
    await part.close();
    for (const free of frees) await free();
    files.remove();
  }
});
