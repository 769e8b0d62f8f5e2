import { copyFileSync, renameSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import type { NorthboundIntent } from '../intent/intent.ts';
import { silentLog } from '../model/log.ts';
import { Certificates } from '../northbound/certificates.fixture.ts';
import { exampleState, sourceOf } from '../northbound/state.fixture.ts';
import { eventLoopWork } from '../model/work.ts';
import { NorthboundPart } from './northbound-part.ts';

const freePort = async (): Promise<number> => {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

/** The common name that the server shows; undefined: nobody listens. */
const nameAt = (port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(client.getPeerCertificate().subject.CN));
      client.destroy();
    });
    client.on('error', () => resolve(undefined));
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
  const part = new NorthboundPart();
  const dependencies = {
    source: sourceOf(exampleState()),
    work: eventLoopWork(),
    log: silentLog,
    count: () => undefined,
  };
  const problems = (): string[] => part.problems({ ...settings, northbound }).map(({ problem }) => problem);
  try {
    certificate('first');
    copyFileSync(at('cert.pem'), at('ca.pem'));
    await part.open(settings, { ...dependencies, actions: {} as never });
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
