// The order of the test files: those that take a minute or more (labs with FRR's timers) first, so that at the end no worker waits for one of them alone. A
// fresh clone has no times of an earlier run to go by.
import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const SLOW = ['ospf-scenes', 'reload', 'frr-configs', 'scenes', 'bgp-hostile', 'ospf-areas', 'ospf-carrier', 'ospf-trouble', 'isis-trouble', 'gobgp-client', 'ospf-frr', 'daemon'];

function rank({ moduleId }: TestSpecification): number {
  const at = SLOW.indexOf(basename(moduleId, '.test.ts'));
  return at < 0 ? SLOW.length : at;
}

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
