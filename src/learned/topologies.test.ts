import { expect, test } from 'vitest';
import type { CarrierName } from '../model/advertisement.ts';
import type { TopologyReport } from '../model/topology.ts';
import { fixture } from './table.fixture.ts';

const report = (carrier: CarrierName, ...areas: string[]): TopologyReport => ({
  carrier,
  areas: areas.map((area) => ({ area, nodes: new Map() })),
});

test('each carrier has one topology: its latest; one without areas takes it away', () => {
  const { table } = fixture();
  table.topology.report(report('isis', 'L1', 'L2'));
  table.topology.report(report('ospfv3', '0.0.0.0'));
  expect(table.topologies()).toEqual([report('isis', 'L1', 'L2'), report('ospfv3', '0.0.0.0')]);
  table.topology.report(report('isis', 'L2'));
  expect(table.topologies()).toEqual([report('isis', 'L2'), report('ospfv3', '0.0.0.0')]);
  table.topology.report(report('isis'));
  expect(table.topologies()).toEqual([report('ospfv3', '0.0.0.0')]);
});

test('a change is taken once, and the end of what never was is none', () => {
  const { table } = fixture();
  table.topology.report(report('isis'));
  expect(table.topology.takeChanged()).toBe(false);
  for (const areas of [['L2'], ['L2'], []]) {
    table.topology.report(report('isis', ...areas));
    expect([table.topology.takeChanged(), table.topology.takeChanged()]).toEqual([true, false]);
  }
});
