// Certificates and their keys, made by openssl for a test.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });

export class Certificates {
  readonly #dir = mkdtempSync(join(tmpdir(), 'cnpd-tls-'));

  at(file: string): string {
    return join(this.#dir, file);
  }

  /** What `NAME.pem` or `NAME.key` has. */
  read(file: string): Buffer {
    return readFileSync(this.at(file));
  }

  /** `NAME.pem` and `NAME.key`, signed by itself, or by the authority of that name. */
  make(name: string, { ca, san, days = '1' }: { ca?: string; san?: string; days?: string } = {}): void {
    const at = (file: string): string => this.at(file);
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at(`${name}.key`)];
    const subject = ['-subj', `/CN=${name}`];
    if (!ca) return openssl('req', '-x509', ...key, ...subject, '-days', days, '-out', at(`${name}.pem`));
    openssl('req', ...key, ...subject, '-out', at(`${name}.csr`));
    writeFileSync(at('ext'), san ? `subjectAltName=${san}\n` : '\n');
    const signed = ['-CA', at(`${ca}.pem`), '-CAkey', at(`${ca}.key`), '-CAcreateserial', '-extfile', at('ext')];
    openssl('x509', '-req', '-in', at(`${name}.csr`), ...signed, '-days', days, '-out', at(`${name}.pem`));
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
