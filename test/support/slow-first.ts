// The order of the test files: those that take a minute or more on a busy machine (labs with FRR's timers) first, the
// longest before the others, so that at the end no worker waits for one of them alone. A fresh clone has no times of an
// earlier run to go by.
import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const SLOW = [
  'isis-forged',
  'reload',
  'scenes',
  'ospf-scenes',
  'frr-configs',
  'restart',
  'gobgp-client',
  'privileges',
  'gobgp-policy',
  'bgp-ebgp',
  'bgp-frr',
  'daemon',
  'ospf-carrier',
  'ospf-frr',
  'ospf-areas',
  'bgp-hostile',
  'scene',
  'frr-ospf',
  'gobgp-doctor',
  'isis-trouble',
  'proxy-formats',
  'roce-endpoint',
  'border',
  'ospf-trouble',
  'isis-frr',
  'frr',
  'long-haul',
  'srv6-sids',
];

function rank({ moduleId }: TestSpecification): number {
  const at = SLOW.indexOf(basename(moduleId, '.test.ts'));
  return at < 0 ? SLOW.length : at;
}

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
