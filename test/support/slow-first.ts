// The order of the test files: the longest of each project first, so that at the end no worker waits for one of them
// alone. A fresh clone has no times of an earlier run to go by. The names are paths: base names occur several times.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Measured on two cores: what takes more than ten seconds of `unit`, eight of `bpf` and fifteen of `e2e`. */
const SLOW = [
  'src/intent/hostile',
  'test/bpf/proxy/connections',
  'test/bpf/multicast/model',
  'test/kernel/multicast-tables',
  'test/bpf/proxy/port-shares',
  'test/bpf/proxy/formats',
  'test/bpf/detector/formats',
  'test/bpf/hold/ports',
  'test/bpf/detector/live',
  'test/bpf/builder/live',
  'test/bpf/proxy/limits',
  'test/bpf/srv6/routes',
  'test/bpf/objects/compilers',
  'test/bpf/source/live',
  'test/e2e/gobgp-policy',
  'test/e2e/gobgp-client',
  'test/e2e/multicast-group',
  'test/e2e/frr-configs',
  'test/e2e/scenes',
  'test/e2e/ospf-carrier',
  'test/e2e/isis-forged',
  'test/e2e/groups-api',
  'test/e2e/ospf-areas',
  'test/e2e/privileges',
  'test/e2e/ospf-frr',
  'test/e2e/ospf-trouble',
  'test/e2e/documents',
  'test/e2e/ospf-scenes',
  'test/e2e/srv6-sids',
  'test/e2e/isis-frr',
  'test/e2e/reload',
  'test/e2e/isis-trouble',
  'test/e2e/end-con',
  'test/e2e/gobgp-busy',
  'test/e2e/bgp-hostile',
  'test/e2e/restart',
  'test/e2e/roce-endpoint',
  'test/e2e/bgp-ebgp',
  'test/e2e/daemon',
  'test/e2e/enforce',
  'test/e2e/hostile-isis',
  'test/e2e/frr',
  'test/e2e/fast-cnp',
  'test/e2e/levels',
  'test/e2e/gobgp-own',
  'test/e2e/stamp',
  'test/e2e/ospf-shape',
  'test/e2e/bgp-frr',
  'test/e2e/ospf-hostile',
  'test/e2e/hostile',
  'test/e2e/ospf-load',
  'test/e2e/gobgp-domain',
  'test/e2e/ospf-preference',
  'test/e2e/gobgp-doctor',
  'test/e2e/ospf-both',
].map((name) => `/${name}.test.ts`);

function rank({ moduleId }: TestSpecification): number {
  const at = SLOW.findIndex((name) => moduleId.endsWith(name));
  return at < 0 ? SLOW.length : at;
}

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
