// Lets scapy, which Debian installs for the system's Python, do what our codecs do. One process a batch, JSON in and
// out.
import { spawnSync } from 'node:child_process';

/** `program` finds its input in `data` and leaves its answer in `result`. */
export function scapy<T>(program: string, data: unknown): T {
  const script = `import json, sys, logging
logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
data = json.load(sys.stdin)
result = None
${program}
json.dump(result, sys.stdout)
`;
  const run = spawnSync('/usr/bin/python3', ['-c', script], {
    input: JSON.stringify(data),
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    timeout: 50_000,
  });
  if (run.status !== 0) throw new Error(`scapy: ${run.error?.message ?? run.stderr}`);
  return JSON.parse(run.stdout) as T;
}
