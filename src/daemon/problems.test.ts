import { describe, expect, it } from 'vitest';
import type { Intent } from '../intent/intent.ts';
import type { IsisNeighborState } from '../model/state.ts';
import { adjacencyProblems, placementProblems, reloadProblems } from './problems.ts';

const intent = { isis: { interface: 'cnpd-isis' } } as unknown as Intent;
const START = Date.parse('2026-01-01T00:00:00Z');
const neighbor = (state: IsisNeighborState['state'], since: number) =>
  ({ neighbors: () => [{ state, since: new Date(since).toISOString() } as IsisNeighborState] });

describe('problems', () => {
  it('an adjacency that does not come up is one after half a minute', () => {
    const nobody = { neighbors: () => [] };
    expect(adjacencyProblems(intent, nobody, START, START + 29_999)).toEqual([]);
    expect(adjacencyProblems(intent, nobody, START, START + 30_000)).toHaveLength(1);
  });

  it('an adjacency that was lost is one half a minute after the loss, and none once it is back', () => {
    const lost = START + 3_600_000;
    expect(adjacencyProblems(intent, neighbor('initializing', lost), START, lost + 29_999)).toEqual([]);
    expect(adjacencyProblems(intent, neighbor('initializing', lost), START, lost + 30_000)[0]!.problem).toContain('cnpd-isis');
    expect(adjacencyProblems(intent, neighbor('up', START), START, lost)).toEqual([]);
  });

  it('no IS-IS declared, no problem', () => {
    expect(adjacencyProblems({} as Intent, undefined, START, START + 1e9)).toEqual([]);
  });

  it('prefixes without a place and a refused reload are told', () => {
    expect(placementProblems(0)).toEqual([]);
    expect(placementProblems(7)[0]!.problem).toMatch(/^7 sender prefixes/);
    expect(reloadProblems('f', false)).toEqual([]);
    expect(reloadProblems('/etc/cnpd/cnpd.yaml', true)[0]!.remedy).toContain('cnpd check /etc/cnpd/cnpd.yaml');
  });
});
