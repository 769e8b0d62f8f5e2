import { expect, test } from 'vitest';
import { fileRemedy, reloadProblems } from './configuration.ts';

test('a refused reload is reported', () => {
  expect(reloadProblems('f', false)).toEqual([]);
  expect(reloadProblems('/etc/cnpd/cnpd.yaml', true)[0]!.remedy).toContain('cnpd check /etc/cnpd/cnpd.yaml');
});

test('a file without read permission: run as root, or grant access', () =>
  expect(fileRemedy('/x.yaml', 'EACCES')).toMatch(/^run this as root, or grant access: namei -l \/x\.yaml/));
