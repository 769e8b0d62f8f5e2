import { describe, expect, test } from 'vitest';
import { ROUTER, complaints, load } from './files.fixture.ts';

const PORT = 'ports: [{ interface: wan, k-max: 1MB }]\n';
const policies = (...lines: string[]): string =>
  `${ROUTER}${PORT}notifications:\n  senders:\n${lines.map((line) => `    - { ${line} }\n`).join('')}`;
const V6 = 'prefix: 2001:db8:1::/64';
const V4 = 'prefix: 198.51.100.0/24';
const ROCE = 'supports: [long-haul-roce], order: [long-haul-roce]';
const longHaul = (yaml: string): string =>
  `${policies(`${V6}, order: [long-haul-icmpv6]`)}  long-haul:\n${yaml
    .split('\n')
    .map((line) => `    ${line}\n`)
    .join('')}`;
const ORDER = 'notifications.senders[0].order';

describe('what is off', () => {
  test('A13, FCNP-5-f, FCNP-5-g: no sender gets a Fast CNP or a Long-haul CNP unless a policy allows it', () => {
    expect(load(`${ROUTER}${PORT}`)).not.toHaveProperty('notifications');
    expect(load(policies(`${V6}, order: [fast-cnp]`)).notifications!.senders[0]!.order).toEqual(['fast-cnp']);
  });

  test('FCNP-5-f: the section is switched off by `enabled: off`, and still checked', () => {
    const text = policies(`${V6}, order: [fast-cnp]`);
    expect(load(text.replace('  senders', '  enabled: off\n  senders'))).not.toHaveProperty('notifications');
    expect(
      complaints(policies(`${V4}, order: [fast-cnp]`).replace('  senders', '  enabled: off\n  senders')),
    ).toHaveLength(1);
  });
});

describe('LHCNP-6-b: what senders understand is configured', () => {
  test.each([
    ['', 'unknown'],
    ['supports: unknown, ', 'unknown'],
    ['supports: standard-cnp, ', []],
    ['supports: [], ', []],
    ['supports: [fast-cnp, long-haul-icmpv6], ', ['fast-cnp', 'long-haul-icmpv6']],
  ])('%s', (supports, expected) => {
    expect(load(policies(`${V6}, ${supports}order: [proxy]`)).notifications!.senders[0]!.supports).toEqual(expected);
  });

  test.each([
    [
      'supports: everything',
      'notifications.senders[0].supports',
      /found "everything"; allowed: one of unknown, advertised, standard-cnp, or a list of: one of fast-cnp, long-haul-icmpv6, long-haul-roce/,
    ],
    [
      'supports: [fast-cnp, slow-cnp]',
      'notifications.senders[0].supports[1]',
      /found "slow-cnp"; allowed: one of fast-cnp/,
    ],
    [
      'supports: [fast-cnp, fast-cnp]',
      'notifications.senders[0].supports[1]',
      /fast-cnp is already in this list, as entry 0/,
    ],
    ['supports: { a: b }', 'notifications.senders[0].supports', /found a mapping/],
  ])('%s is refused', (supports, path, message) => {
    const [complaint, ...more] = complaints(policies(`${V6}, ${supports}, order: [proxy]`));
    expect({ startsWithPath: complaint!.startsWith(`${path}: `), more }).toEqual({ startsWithPath: true, more: [] });
    expect(complaint).toMatch(message);
  });

  test('a format that senders are known not to understand is refused', () => {
    expect(complaints(policies(`${V6}, supports: [fast-cnp], order: [long-haul-icmpv6, fast-cnp]`))).toEqual([
      `${ORDER}[0]: the senders in 2001:db8:1::/64 are declared not to understand long-haul-icmpv6: ` +
        'it is not under supports',
    ]);
    expect(complaints(policies(`${V6}, supports: standard-cnp, order: [fast-cnp]`))).toEqual([
      expect.stringMatching(/declared not to understand fast-cnp/),
    ]);
  });
});

describe('the format fits the family', () => {
  test('LHCNP-4-a: the ICMPv6 form is refused for IPv4 senders, and the RoCEv2 form is the one to use', () => {
    expect(complaints(policies(`${V4}, order: [long-haul-icmpv6, proxy]`))).toEqual([
      `${ORDER}[0]: the ICMPv6 form of Long-haul CNP is for IPv6 alone: ` +
        'IPv4 senders such as 198.51.100.0/24 take the RoCEv2 form (LHCNP §4)',
    ]);
    expect(load(policies(`${V4}, ${ROCE}`)).notifications!.senders[0]!.order).toEqual(['long-haul-roce']);
  });

  test('FCNP-3-d: a Fast CNP for IPv4 senders is refused', () => {
    expect(complaints(policies(`${V4}, order: [fast-cnp]`))).toEqual([
      `${ORDER}[0]: Fast CNP is an IPv6 packet; the senders in 198.51.100.0/24 are IPv4 (FCNP §3)`,
    ]);
    expect(complaints(policies('prefix: 0.0.0.0/0, order: [proxy, fast-cnp]'))).toHaveLength(1);
  });
});

describe('LHCNP-10.5-b, LHCNP-6.2.1-c, LHCNP-10.5-a: the RoCEv2 form goes only to senders that are listed for it', () => {
  test.each(['', 'supports: unknown, ', 'supports: standard-cnp, ', 'supports: [fast-cnp], '])(
    'not with %s',
    (supports) => {
      expect(complaints(policies(`${V6}, ${supports}order: [proxy, long-haul-roce]`))).toEqual([
        `${ORDER}[1]: the RoCEv2 form of Long-haul CNP may be sent only to senders that are known to accept it ` +
          '(LHCNP §6.2.1, §10.5): list it under supports of 2001:db8:1::/64',
      ]);
    },
  );

  test.each(['::/0', '0.0.0.0/0', '::/1', '8000::/1', '0.0.0.0/1', 'fc00::/6', '10.0.0.0/7'])(
    'never to %s, whatever is declared of it',
    (all) => {
      expect(complaints(policies(`prefix: "${all}", ${ROCE}`))).toEqual([
        expect.stringMatching(/is more than one domain has \(LHCNP §10.5\)$/),
      ]);
    },
  );

  test.each(['fc00::/7', '10.0.0.0/8', '2001:db8::/32'])('but to %s, which one domain can have', (widest) => {
    expect(complaints(policies(`prefix: "${widest}", ${ROCE}`))).toEqual([]);
  });

  test.each([V6, V4])('LHCNP-8-e: but to %s when it is listed', (prefix) => {
    expect(complaints(policies(`${prefix}, ${ROCE}`))).toEqual([]);
  });
});

describe('CE marking beside a Fast CNP', () => {
  test('FCNP-4-a: of unknown senders it goes on unless it is switched off', () => {
    expect(load(policies(`${V6}, order: [fast-cnp]`)).notifications!.senders[0]!.markCeWithFastCnp).toBe(true);
    expect(
      load(policies(`${V6}, order: [fast-cnp], ce-with-fast-cnp: off`)).notifications!.senders[0]!.markCeWithFastCnp,
    ).toBe(false);
  });

  test('FCNP-4-b: of senders known to be capable it is off, and cannot be switched on', () => {
    expect(
      load(policies(`${V6}, supports: [fast-cnp], order: [fast-cnp]`)).notifications!.senders[0]!.markCeWithFastCnp,
    ).toBe(false);
    expect(complaints(policies(`${V6}, supports: [fast-cnp], order: [fast-cnp], ce-with-fast-cnp: on`))).toEqual([
      'notifications.senders[0].ce-with-fast-cnp: packets of senders that are known to understand Fast CNP ' +
        'must not be CE-marked while one is sent (FCNP §4)',
    ]);
  });

  test('is refused where no Fast CNP is sent', () => {
    expect(complaints(policies(`${V6}, order: [proxy], ce-with-fast-cnp: on`))).toEqual([
      expect.stringMatching(/these senders are never sent a Fast CNP/),
    ]);
  });
});

describe('FCNP-4-c: notifications need a loopback address of this router as their source', () => {
  const only = (family: 'ipv4' | 'ipv6', text: string): string =>
    text.replace(
      ROUTER,
      `router: { name: r1, loopback: { ${family}: ${family === 'ipv4' ? '192.0.2.1' : '2001:db8::1'} } }\n`,
    );
  test.each([
    [
      `${V6}, order: [fast-cnp]`,
      'ipv4',
      /^router\.loopback\.ipv6: fast-cnp for 2001:db8:1::\/64 needs an IPv6 loopback/,
    ],
    [`${V6}, order: [proxy, long-haul-icmpv6]`, 'ipv4', /^router\.loopback\.ipv6: long-haul-icmpv6 for/],
    [
      `${V4}, ${ROCE}`,
      'ipv6',
      /^router\.loopback\.ipv4: long-haul-roce for 198\.51\.100\.0\/24 needs an IPv4 loopback/,
    ],
  ] as const)('%s without one of its family', (policy, family, message) => {
    expect(complaints(only(family, policies(policy)))).toEqual([expect.stringMatching(message)]);
  });

  test('a proxy may have an address of either family', () => {
    expect(complaints(only('ipv4', policies(`${V6}, order: [proxy]`)))).toEqual([]);
  });
});

describe('policies', () => {
  test.each([
    [
      'no policy',
      `${ROUTER}notifications: { senders: [] }`,
      /^notifications\.senders: without policies no sender is notified/,
    ],
    [
      'no senders',
      `${ROUTER}notifications: { enabled: on }`,
      /^notifications\.senders: missing; allowed: a list: one policy per sender prefix/,
    ],
    [
      'an empty order',
      policies(`${V6}, order: []`),
      /^notifications\.senders\[0\]\.order: an empty order never notifies these senders/,
    ],
    ['no order', policies(V6), /^notifications\.senders\[0\]\.order: missing; allowed: a list: formats in the order/],
    [
      'a format twice',
      policies(`${V6}, order: [proxy, proxy]`),
      /^notifications\.senders\[0\]\.order\[1\]: proxy is already in this list/,
    ],
    [
      'an unknown format',
      policies(`${V6}, order: [slow-cnp]`),
      /^notifications\.senders\[0\]\.order\[0\]: found "slow-cnp"; allowed: one of proxy, fast-cnp/,
    ],
    [
      'a prefix twice',
      policies(`${V6}, order: [proxy]`, 'prefix: 2001:db8:1:0::/64, order: [proxy]'),
      /^notifications\.senders\[1\]\.prefix: 2001:db8:1::\/64 is already in this list/,
    ],
    [
      'multicast senders',
      policies('prefix: "ff00::/8", order: [proxy]'),
      /^notifications\.senders\[0\]\.prefix: no sender has a source address in ff00::\/8/,
    ],
    [
      'a day and more of belief',
      policies(`${V6}, order: [fast-cnp]`).concat('  capability-expiry: 25h\n'),
      /^notifications\.capability-expiry: found "25h"; allowed: a time such as 20ms, from 1s to 24h/,
    ],
    [
      'an unknown coverage',
      policies(`${V6}, order: [fast-cnp]`).concat('  fast-cnp: { icrc: half }\n'),
      /^notifications\.fast-cnp\.icrc: found "half"; allowed: one of cover, skip/,
    ],
    [
      '4097 policies',
      policies(...Array.from({ length: 4097 }, (_, i) => `prefix: 2001:db8:${i.toString(16)}::/48, order: [proxy]`)),
      /^notifications\.senders: 4097 entries are more than cnpd holds, 4096/,
    ],
  ])('%s: refused', (_claim, text, message) => {
    expect(complaints(text)).toEqual([expect.stringMatching(message)]);
  });

  test('default routes are for all others', () => {
    expect(
      complaints(policies('prefix: "::/0", order: [fast-cnp, proxy]', 'prefix: 0.0.0.0/0, order: [proxy]')),
    ).toEqual([]);
  });
});

describe('the table of instructions', () => {
  const row = (level: number, rest: string): string => `{ level: ${level}, ${rest} }`;

  test('LHCNP-5.5.1-b, LHCNP-5.5.1-d: by default notify comes first and pause only by escalation', () => {
    const { early, severity, escalation } = load(longHaul('disclose: on')).notifications!.longHaul;
    expect(early.action).toBe('notify');
    expect(severity.map((r) => r.action)).toEqual(['rate-reduce', 'rate-reduce', 'rate-reduce']);
    expect(escalation.map((r) => r.action)).toEqual(['rate-reduce', 'pause']);
  });

  test.each([
    ['severity: [{ from: 1, level: 180, action: pause, parameter: 1000 }]', 'severity[0]'],
    [
      `early: ${row(100, 'action: pause, parameter: 1000')}\nseverity: [{ from: 1, level: 180, action: pause, ` +
        `parameter: 2000 }]\nescalation: [${row(250, 'action: pause, parameter: 3000')}]`,
      'early',
    ],
  ])('LHCNP-5.5.1-d: pause outside escalation is refused: %s', (yaml, where) => {
    expect(complaints(longHaul(yaml))).toContainEqual(
      `notifications.long-haul.${where}.action: ` +
        'pause is for congestion that a reduction did not end (LHCNP §5.5.1): put it under escalation',
    );
  });

  test.each([
    [
      'LHCNP-6.1-j: notify with a parameter',
      `early: ${row(100, 'action: notify, parameter: 5')}`,
      'early.parameter: notify has no parameter, so it is 0 (LHCNP §6.1)',
    ],
    [
      'LHCNP-6.1-i: a reduction by more than all',
      `escalation: [${row(245, 'action: rate-reduce, parameter: 101')}]`,
      'escalation[0].parameter: rate-reduce takes percent, from 1 to 100 (LHCNP §6.1)',
    ],
    [
      'LHCNP-6.1-i: a pause of no time',
      `escalation: [${row(245, 'action: pause')}]`,
      'escalation[0].parameter: pause takes microseconds, from 1 to 65535 (LHCNP §6.1)',
    ],
    [
      'LHCNP-6.1-i: a reduction by nothing',
      `early: ${row(100, 'action: rate-reduce, parameter: 0')}`,
      'early.parameter: rate-reduce takes percent, from 1 to 100 (LHCNP §6.1)',
    ],
    [
      'LHCNP-6.1-i: a reduction by a time',
      `escalation: [${row(245, 'action: rate-reduce, parameter: rtt')}, ${row(255, 'action: pause, parameter: rtt')}]`,
      'escalation[0].parameter: rate-reduce takes percent, from 1 to 100 (LHCNP §6.1)',
    ],
    [
      'LHCNP-5.7-e: an escalation to a lower level',
      `escalation: [${row(230, 'action: rate-reduce, parameter: 75')}]`,
      'escalation[0].level: level 230 does not exceed 230 of the previous row: ' +
        'a stricter row has a higher level (LHCNP §5.7)',
    ],
    [
      'LHCNP-5.7-e: an escalation to a laxer action',
      `escalation: [${row(245, 'action: rate-reduce, parameter: 50')}]`,
      'escalation[0].action: rate-reduce 50 is not stricter than rate-reduce 50 of the previous row (LHCNP §5.7)',
    ],
    [
      'LHCNP-5.7-e: an escalation from one pause to one that may be shorter',
      `escalation: [${row(245, 'action: pause, parameter: 100')}, ${row(255, 'action: pause, parameter: rtt')}]`,
      'escalation[1].action: pause rtt is not stricter than pause 100 of the previous row (LHCNP §5.7)',
    ],
    [
      'LHCNP-5.7-e: no escalation',
      'escalation: []',
      'escalation: when congestion worsens after a reduction, something stricter must be sent (LHCNP §5.7)',
    ],
    [
      'levels that do not ascend with depth',
      'severity: [{ from: 1, level: 180, action: rate-reduce, parameter: 30 }, ' +
        '{ from: 2, level: 180, action: rate-reduce, parameter: 40 }]',
      'severity[1].level: level 180 does not exceed 180 of the previous row: ' +
        'a stricter row has a higher level (LHCNP §5.7)',
    ],
    [
      'a table that does not begin at K_max',
      'severity: [{ from: 1.5, level: 180, action: rate-reduce, parameter: 30 }]',
      'severity[0].from: the first row is from k-max on, 1',
    ],
    [
      'depths that do not ascend',
      'severity: [{ from: 1, level: 180, action: rate-reduce, parameter: 30 }, ' +
        '{ from: 1, level: 190, action: rate-reduce, parameter: 40 }]',
      'severity[1].from: rows must be in ascending order of depth',
    ],
    ['no row at K_max', 'severity: []', 'severity: the row from 1 is what is sent above k-max'],
    [
      'a Resume that says congestion',
      'resume: { level: 100, parameter: 50 }',
      'resume.level: resume means that congestion is over: its level (100) must be less than that of early (100)',
    ],
    [
      'padding beside objects',
      'pad-to-cnp: on\nobjects: { timestamp: on }',
      'pad-to-cnp: padding is pointless with extension objects, which make the packet longer than a CNP anyway',
    ],
  ])('%s is refused', (_claim, yaml, complaint) => {
    expect(complaints(longHaul(yaml))).toEqual([`notifications.long-haul.${complaint}`]);
  });

  test('more rows than the dataplane has are refused', () => {
    const severity = Array.from(
      { length: 6 },
      (_, i) => `{ from: ${i + 1}, level: ${150 + i}, action: rate-reduce, parameter: ${30 + i} }`,
    ).join(', ');
    expect(complaints(longHaul(`severity: [${severity}]`))).toEqual([
      expect.stringMatching(/early, severity and escalation have 9 rows, more than 8$/),
    ]);
  });

  test.each<readonly [yaml: string, message: RegExp]>([
    ['early: { level: 256, action: notify }', /early\.level: found "256"; allowed: a whole number from 0 to 255/],
    [
      'early: { level: 100, action: resume }',
      /early\.action: found "resume"; allowed: one of notify, rate-reduce, pause/,
    ],
    [
      'escalation: [{ level: 255, action: pause, parameter: 65536 }]',
      /escalation\[0\]\.parameter: found "65536"; allowed: rtt, or a whole number from 0 to 65535/,
    ],
    ['resume: { level: 20, parameter: 101 }', /resume\.parameter: found "101"; allowed: a whole number from 0 to 100/],
    ['resume: { level: 20 }', /resume\.parameter: missing/],
    ['contribution: 101%', /contribution: found "101%"; allowed: a percentage such as 50%, from 0% to 100%/],
    ['deferral: 0%', /deferral: found "0%"; allowed: a percentage such as 50%, from 1% to 99%/],
    [
      `objects: { device-id: "${'é'.repeat(33)}" }`,
      /objects\.device-id: found .*allowed: an identifier of 1 to 64 bytes in UTF-8/,
    ],
    ['objects: { device-id: "" }', /objects\.device-id: found ""/],
    ['objects: { path-id: 4294967296 }', /objects\.path-id: found "4294967296"/],
    ['severity: 5', /severity: found "5"; allowed: a list/],
    ['early: 5', /early: found "5"; allowed: a mapping with the keys level, action, parameter/],
  ])('%s is refused unchanged', (yaml, message) => {
    expect(complaints(longHaul(yaml))).toEqual([expect.stringMatching(message)]);
  });

  test('LHCNP-9-g, LHCNP-6.1-n: not disclosing metrics leaves the instructions as they are', () => {
    const [open, closed] = [load(longHaul('disclose: on')), load(longHaul('disclose: off'))].map(
      (intent) => intent.notifications!.longHaul,
    );
    expect(closed).toEqual({ ...open, disclose: false });
  });

  test('LHCNP-6.1.1-a: extension objects are off until they are asked for', () => {
    expect(load(longHaul('disclose: on')).notifications!.longHaul.objects).toEqual({ timestamp: false });
    expect(
      load(longHaul('objects: { timestamp: on, device-id: n1, path-id: 0 }')).notifications!.longHaul.objects,
    ).toEqual({ timestamp: true, deviceId: 'n1', pathId: 0 });
  });
});
