import { expect, test } from 'vitest';
import { fileRemedy, reloadProblems } from './configuration.ts';

test('a refused reload is told', () => {
  expect(reloadProblems('f', false)).toEqual([]);
  expect(reloadProblems('/etc/cnpd/cnpd.yaml', true)[0]!.remedy).toContain('cnpd check /etc/cnpd/cnpd.yaml');
});

test('a file that may not be read wants another reader', () =>
  expect(fileRemedy('/x.yaml', 'EACCES')).toMatch(/^run this as root, or grant access: namei -l \/x\.yaml/));
