// Code points that mean something else to others.
import { describe, expect, test } from 'vitest';
import { codePointProblems } from '../diagnosis/promises.ts';
import { collisions } from '../model/assigned-numbers.ts';
import { CODE_POINTS, DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import { ROUTER, complaints, load } from './files.fixture.ts';

const file = (...lines: string[]): string => `${ROUTER}code-points:\n${lines.map((line) => `  ${line}\n`).join('')}`;

describe('a code point that is assigned to something else', () => {
  test.each([
    ['long-haul-icmpv6-type: 135', 'Neighbor Solicitation'],
    ['long-haul-icmpv6-type: 134', 'Router Advertisement'],
    ['long-haul-icmpv6-type: 128', 'Echo'],
    ['long-haul-icmpv6-type: 143', 'Multicast Listener'],
    ['long-haul-icmpv6-type: 161', 'Extended Echo'],
    ['long-haul-icmpv6-type: 255', 'reserved'],
    ['pnc-udp-port: 4791', 'RoCEv2'],
    ['pnc-udp-port: 179', 'BGP'],
    ['pnc-udp-port: 1', 'a system port'],
    ['pnc-udp-port: 862', 'STAMP'],
    ['pnc-udp-port: 4789', 'VXLAN'],
    ['pnc-udp-port: 3784', 'BFD'],
    ['pnc-udp-port: 2029', 'HSRP'],
    ['pnc-udp-port: 9996', 'NetFlow'],
    ['isis-pnc-flag-bit: 0', 'X'],
    ['isis-pnc-flag-bit: 6', 'UP'],
    ['ospfv2-pnc-flag-bit: 1', 'UP'],
    ['ospfv3-pnc-flag-bit: 0', 'U'],
    ['bgp-pnc-characteristic: 1', 'ELCv3'],
    ['bgp-private-characteristic: 3', 'BGP identifier'],
    ['fast-cnp-option: 138', 'Endpoint Identification'],
    ['fast-cnp-ioam-option: 139', 'ILNP Nonce'],
    ['long-haul-object-class: 1', 'MPLS Label Stack'],
    ['end-con-behavior: 1', 'End'],
    ['end-con-behavior: 40000', 'reserved'],
    ['ospfv3-private-function: 8191', 'reserved'],
  ])('%s: refused, %s being what has it; with allow-assigned it is taken, and the risk is a note', (line, use) => {
    const [name] = line.split(':') as [string];
    const refused = complaints(file(line));
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatch(new RegExp(`^code-points\\.${name}: \\d+ is .*${use}.*allow-assigned: on`));
    const intent = load(file(line, 'allow-assigned: on'));
    expect(intent.codePoints).toMatchObject({ [name]: Number(line.split(': ')[1]) });
    expect(intent.codePoints).not.toHaveProperty('allow-assigned');
    expect(codePointProblems(intent).map(({ problem }) => problem)).toEqual([
      expect.stringMatching(new RegExp(`^code-points\\.${name} .*${use}`)),
    ]);
    expect(complaints(file(line, 'allow-assigned: off'))).toEqual(refused);
  });

  test.each([
    ['long-haul-icmpv6-type: 201'],
    ['long-haul-icmpv6-type: 199'],
    ['pnc-udp-port: 50022'],
    ['arn-udp-port: 50023'],
    ['pnc-udp-port: 50000'],
    ['isis-pnc-flag-bit: 8'],
    ['ospfv2-pnc-flag-bit: 3'],
    ['bgp-pnc-characteristic: 7'],
    ['fast-cnp-option: 158'],
    ['long-haul-object-class: 255'],
    ['end-con-behavior: 34815'],
    ['end-con-behavior: 32768'],
    ['ospfv3-private-function: 8190'],
    ['ospfv2-private-opaque-type: 255'],
  ])('%s is free', (line) => expect(complaints(file(line))).toEqual([]));

  test('the defaults collide with nothing', () => {
    expect(collisions(DEFAULT_CODE_POINTS)).toEqual([]);
    expect(codePointProblems(load(ROUTER))).toEqual([]);
    for (const { name, min, max, default: fallback } of CODE_POINTS) {
      expect(fallback, name).toBeGreaterThanOrEqual(min);
      expect(fallback, name).toBeLessThanOrEqual(max);
    }
  });

  test('a value that is out of range, or a flag that is neither on nor off, is one error', () => {
    expect(complaints(file('long-haul-icmpv6-type: 1'))).toHaveLength(1);
    expect(complaints(file('long-haul-icmpv6-type: 135', 'allow-assigned: perhaps'))).toEqual([
      expect.stringContaining('allow-assigned'),
    ]);
  });
});

describe('equal values of one registry', () => {
  test.each([
    [
      'both written',
      ['bgp-pnc-characteristic: 65510', 'bgp-private-characteristic: 65510'],
      'code-points.bgp-private-characteristic',
      /bgp-pnc-characteristic already/,
    ],
    [
      'one equal to the other’s default',
      ['bgp-private-characteristic: 65500'],
      'code-points.bgp-private-characteristic',
      /bgp-pnc-characteristic already/,
    ],
    [
      'the first equal to the second’s default',
      ['bgp-pnc-characteristic: 65501'],
      'code-points.bgp-pnc-characteristic',
      /65501 is the default of code-points\.bgp-private-characteristic:/,
    ],
  ])('%s: refused', (_how, lines, path, reason) => {
    const [complaint, ...more] = complaints(file(...lines));
    expect({ path: complaint!.split(': ')[0], more }).toEqual({ path, more: [] });
    expect(complaint).toMatch(reason);
    expect(complaints(file(...lines, 'allow-assigned: on'))).toEqual([]);
  });

  test('both options of Fast CNP may be equal: their lengths differ', () =>
    expect(complaints(file('fast-cnp-option: 150', 'fast-cnp-ioam-option: 150'))).toEqual([]));

  test('the port of STAMP, wherever it is', () => {
    const stamp = 'stamp: { reflector: on, accept-from: [2001:db8::/32], port: 50862 }\n';
    expect(complaints(`${file('pnc-udp-port: 50862')}${stamp}`)).toEqual([
      expect.stringMatching(/^code-points\.pnc-udp-port: 50862 is stamp\.port already/),
    ]);
    expect(complaints(`${file('pnc-udp-port: 50863')}${stamp}`)).toEqual([]);
    expect(codePointProblems(load(`${file('pnc-udp-port: 50862', 'allow-assigned: on')}${stamp}`))).toHaveLength(1);
  });
});

describe('the port of STAMP', () => {
  const stamp = (port: number): string =>
    `${ROUTER}stamp: { reflector: on, accept-from: [2001:db8::/32], port: ${port} }\n`;

  test.each([
    [1021, 'the default of code-points.pnc-udp-port'],
    [1022, 'the default of code-points.arn-udp-port'],
    [4791, 'RoCEv2'],
    [179, 'BGP'],
    [4789, 'VXLAN'],
    [3784, 'BFD'],
    [863, 'a system port'],
  ])('%i: refused, with and without other code points; with allow-assigned it is taken, and is a note', (port, use) => {
    const refused = [expect.stringMatching(new RegExp(`^stamp\\.port: ${port} is ${use}.*allow-assigned: on under`))];
    expect(complaints(stamp(port))).toEqual(refused);
    expect(complaints(`${stamp(port)}code-points: {}\n`)).toEqual(refused);
    expect(complaints(`${stamp(port)}code-points: { long-haul-icmpv6-type: 201 }\n`)).toEqual(refused);
    expect(complaints(`${stamp(port)}code-points: { allow-assigned: off }\n`)).toEqual(refused);
    const allowed = load(`${stamp(port)}code-points: { allow-assigned: on }\n`);
    expect(codePointProblems(allowed)).toEqual([
      expect.objectContaining({ problem: expect.stringContaining(String(port)) }),
    ]);
  });

  test.each([862, 50_862])('%i is free', (port) => {
    expect(complaints(stamp(port))).toEqual([]);
    expect(codePointProblems(load(stamp(port)))).toEqual([]);
  });

  test('the default of the other port is free once that has another value', () => {
    expect(complaints(`${stamp(1021)}code-points: { pnc-udp-port: 50022 }\n`)).toEqual([]);
    expect(complaints(`${stamp(1021)}code-points: { pnc-udp-port: 1021 }\n`)).toEqual([
      expect.stringMatching(/^code-points\.pnc-udp-port: 1021 is stamp\.port already/),
    ]);
  });
});

test('the consequence of a collision is named for what it concerns: border ports drop messages, not advertisements', () => {
  const of = (line: string): string => complaints(file(line)).join('\n');
  for (const line of ['pnc-udp-port: 4791', 'fast-cnp-option: 138', 'long-haul-icmpv6-type: 135'])
    expect(of(line)).toMatch(/border ports drop/);
  for (const line of [
    'isis-pnc-flag-bit: 0',
    'ospfv2-pnc-flag-bit: 1',
    'bgp-pnc-characteristic: 1',
    'end-con-behavior: 1',
  ])
    expect(of(line)).toMatch(/other routers mistake cnpd's advertisements for that/);
  expect(of('long-haul-object-class: 1')).toMatch(/mistake the objects/);
  const [note] = codePointProblems(load(file('isis-pnc-flag-bit: 0', 'allow-assigned: on')));
  expect(note!.problem).toMatch(/advertisements/);
});
