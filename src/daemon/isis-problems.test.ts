import { describe, expect, it } from 'vitest';
import type { Intent } from '../intent/intent.ts';
import type { IsisTrouble } from '../model/carrier-state.ts';
import { isisProblems } from './isis-problems.ts';

describe('IS-IS beside a neighbor', () => {
  const says = (more: Partial<IsisTrouble>) => ({
    trouble: () => [{ level: 2 as const, databaseFull: false, systemIdContested: false, exhausted: [], ...more }],
  });
  const isis = (authentication: object = {}): Intent =>
    ({ isis: { systemId: Uint8Array.of(0, 0, 0, 0, 0xc0, 1), authentication } }) as unknown as Intent;
  const until = '2026-11-23T05:00:00.000Z';

  it('nothing', () => {
    expect(isisProblems(isis(), says({}))).toEqual([]);
    expect(isisProblems(isis(), undefined)).toEqual([]);
  });

  it('another router has the system ID', () => {
    expect(isisProblems(isis(), says({ systemIdContested: true }))).toMatchObject([
      {
        feature: 'isis',
        problem: 'another router in level 2 has the system ID 0000.0000.c001: each undoes what the other advertises',
        remedy: expect.stringContaining('another isis.system-id in cnpd.yaml'),
      },
    ]);
  });

  it('the database is full', () => {
    expect(isisProblems(isis(), says({ databaseFull: true }))[0]!.problem).toContain(
      'LSPs were refused, or their prefixes are not learned',
    );
  });

  it('forged LSPs with the highest sequence number: how long, and authentication as the remedy; a new system ID where fragment 0 is among them', () => {
    const [one] = isisProblems(isis(), says({ exhausted: [{ fragment: 3, until }] }));
    expect(one).toMatchObject({
      problem: expect.stringContaining(`fragment 3 is out of use until ${until}`),
      remedy: expect.stringContaining('set isis.authentication.domain in cnpd.yaml and domain-password md5'),
    });
    const [zero] = isisProblems(
      isis(),
      says({
        exhausted: [
          { fragment: 0, until },
          { fragment: 3, until },
        ],
      }),
    );
    expect(zero).toMatchObject({
      problem: expect.stringContaining(`cannot be reached in IS-IS until ${until}`),
      remedy: expect.stringContaining('another isis.system-id'),
    });
    const [keyed] = isisProblems(isis({ domain: { key: 'hush' } }), says({ exhausted: [{ fragment: 3, until }] }));
    expect(keyed!.remedy).toContain('change isis.authentication.domain');
  });
});
