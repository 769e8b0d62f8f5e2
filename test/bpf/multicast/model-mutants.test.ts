// What the model of answers is worth: with one small fault in the programs it finds a broken invariant, or a group that
// does not complete.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLANG_FLAGS } from '../../../src/setup/clang.mjs';
import { ModelDriver } from '../../../src/bench/support/multicast-model/driver.ts';
import { Simulation } from '../../../src/bench/support/multicast-model/simulation.ts';

const EVENTS = 1_500_000;

/** The model with `search` replaced in this header of bpf/lib/multicast. */
function violationsWith(header: string, search: string, replace: string): readonly string[] {
  const directory = mkdtempSync(join(tmpdir(), 't-model-'));
  try {
    cpSync('bpf', join(directory, 'bpf'), { recursive: true });
    const path = join(directory, 'bpf/lib/multicast', header);
    const source = readFileSync(path, 'utf8');
    expect(source.split(search).length).toBe(2);
    writeFileSync(path, source.replace(search, replace));
    const object = join(directory, 'model.bpf.o');
    execFileSync('clang', [...CLANG_FLAGS, '-c', 'bpf/bench/multicast-model.bpf.c', '-o', object], { cwd: directory });
    execFileSync('llvm-strip', ['-g', object]);
    const driver = new ModelDriver(object);
    try {
      return new Simulation(driver, 7).run(EVENTS).violations;
    } finally {
      driver.close();
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe('A18: the model finds', () => {
  test.each([
    ['a maximum in place of the minimum', 'aggregate.h', 'next < minimum->least', 'next > minimum->least'],
    ['a plain comparison in place of the serial one', 'words.h', '(__s32)((a - b) << 8) >> 8', '(__s32)(a - b)'],
    [
      'answers of another epoch',
      'records.h',
      'if (label == CURRENT_EPOCH(claim->current))',
      'if (label <= EPOCH_MASK)',
    ],
    [
      'a NAK that is not marked as sent',
      'aggregate.h',
      'word_replace(&record->nak, nak, nak | NAK_SENT)',
      'word_replace(&record->nak, nak, nak)',
    ],
    [
      'an edge that answers past the branching role of its own router',
      'maps.h',
      'return multicast_router_of(&group->replication);',
      'return 0;',
    ],
    [
      'a branch that has not answered left out',
      'aggregate.h',
      'if (!is_of(progress, epoch))\n\t\treturn 0;',
      'if (!is_of(progress, epoch))\n\t\treturn 1;',
    ],
  ])(
    '%s',
    (_, header, search, replace) => {
      expect(violationsWith(header, search, replace)).not.toEqual([]);
    },
    300_000,
  );
});
