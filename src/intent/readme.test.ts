// The examples of README.md are files that cnpd takes, combined as their first lines say.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { complaints } from './files.fixture.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/^```yaml\r?\n([^]*?)^```/gm)].map(([, text]) => text!);
const files = examples.filter((text) => text.startsWith('# /etc/cnpd/cnpd.yaml'));
const added = examples.filter((text) => text.startsWith('# added there'));
const bgp = examples.filter((text) => text.startsWith('# in place of isis'));

test('each is a file, an addition to the file before it, or in place of its isis', () => {
  expect({ filesLength: files.length, addedLength: added.length, bgpLength: bgp.length }).toEqual({
    filesLength: 4,
    addedLength: 2,
    bgpLength: 1,
  });
  expect(examples).toHaveLength(7);
});

test.each(files.map((text) => [text.split('\n')[0]!, text]))('%s', (_title, text) => {
  const overBgp = text.replace(/^isis: .*$/m, '');
  expect(overBgp).not.toBe(text);
  expect(complaints(text)).toEqual([]);
  expect(complaints(overBgp + bgp[0])).toEqual([]);
});

test('what is added to the file before it makes one file with it, also with the other K_max', () => {
  const [, file] = added.map((text) => examples[examples.indexOf(text) - 1]! + text) as [string, string];
  for (const text of added) expect(complaints(examples[examples.indexOf(text) - 1]! + text)).toEqual([]);
  const measured = file.replace('k-min: 50kB, k-max: 100kB }', 'k-max: auto, rtt: probe }');
  expect(measured).not.toBe(file);
  expect(complaints(measured)).toEqual([]);
});
