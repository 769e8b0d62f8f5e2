// American spelling, as in the RFCs: in documents, messages, comments and names. A list of stems finds what slips in.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pages } from './pages.ts';

/** Beginnings of words in British spelling; `-is` stands for `-ise`, `-ising`, `-isation`. */
const STEMS = [
  'neighbour behaviour colour favour flavour honour labour harbour vapour',
  'authoris centralis customis emphasis(?=e[ds]?\\b) finalis generalis initialis maximis minimis normalis optimis',
  'organis prioritis randomis recognis serialis specialis stabilis standardis summaris synchronis utilis visualis',
  'cancelled cancelling channelled dialled fuelled labelled labelling levelled levelling marshalled modelled modelling',
  'signalled signalling totalled totalling travelled travelling tunnelled tunnelling',
  'analyse catalogue centre defence fibre licence litre metre(?!d) offence theatre',
  'amongst artefact focussed grey(?!s) judgement learnt misspelt programme(?![dr]) sceptic spelt whilst',
].flatMap((line) => line.split(' '));
const BRITISH = new RegExp(String.raw`(?<![a-z])(?:[a-z]*(?:un|re|de|dis|mis|pre))?(?:${STEMS.join('|')})`, 'gi');
/** Names that others have given: HTML, and the status code of gRPC. grpc-js has `cancelled` too. */
const FOREIGN = /\baria-labelledby\b|\bCANCELLED\b/g;
const GRPC_JS = /\bcancelled\b|\bCancelled\b/g;

const READ = /\.(ts|mjs|c|h|yaml|html|css|md|yang|proto)$/;
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && READ.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));

/** conformance.md quotes the drafts. */
const files = [...new Set([...['src', 'docs', 'bpf'].flatMap(filesIn), 'yang/cnpd.yang', ...pages])].filter(
  (file) => file !== 'docs/conformance.md',
);

/** In a name such as `isNeighbour` each hump is a word. */
const britishIn = (text: string): string[] =>
  text
    .replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1 ')
    .split('\n')
    .flatMap((line, i) => (line.match(BRITISH) ?? []).map((word) => `${i + 1}: ${word}`));

describe('spelling is American', () => {
  test('in everything that is read by people', () => {
    expect(files.length).toBeGreaterThan(500);
    const found = files.flatMap((file) => {
      const text = readFileSync(file, 'utf8').replaceAll(FOREIGN, '');
      return britishIn(file.startsWith('src/northbound/') ? text.replaceAll(GRPC_JS, '') : text).map(
        (at) => `${file}:${at}`,
      );
    });
    expect(found).toEqual([]);
  });

  test('what is found, and what is not', () => {
    expect(britishIn('a neighbour\nisNeighbour, OSPF_BEHAVIOUR\nre-initialised, unlabelled, CENTRE')).toEqual([
      '1: neighbour',
      '2: Neighbour',
      '2: BEHAVIOUR',
      '3: initialis',
      '3: unlabelled',
      '3: CENTRE',
    ]);
    expect(britishIn('parameter, realistic, emphasis, center, greyscale, metered, programmer, canceled')).toEqual([]);
  });
});
