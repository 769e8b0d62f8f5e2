// Every loop of every program ends with a jump: Linux 6.1 refuses one whose last instruction falls through to its
// beginning. Its check_cfg() is followed here, function by function.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = 'dist/bpf';
const OBJECTS = readdirSync(FOLDER).filter((name) => name.endsWith('.bpf.o') && !name.startsWith('bench_'));

interface Instruction {
  readonly at: number;
  /** Where control goes from here, and whether by a jump. */
  readonly next: readonly { readonly to: number; readonly jump: boolean }[];
}

/** Of a line of llvm-objdump. */
function instruction(at: number, text: string): Instruction {
  const width = text.endsWith(' ll') ? 2 : 1;
  const after = { to: at + width, jump: false };
  if (text === 'exit') return { at, next: [] };
  const jump = /^(if .* )?goto ([+-]\d+)/.exec(text);
  if (!jump) return { at, next: [after] };
  const target = { to: at + 1 + Number(jump[2]), jump: true };
  return { at, next: jump[1] === undefined ? [target] : [{ ...after, jump: true }, target] };
}

/** By function. */
function programs(object: string): Map<string, Map<number, Instruction>> {
  const all = new Map<string, Map<number, Instruction>>();
  let current = new Map<number, Instruction>();
  const text = execFileSync('llvm-objdump', ['-d', '--no-show-raw-insn', `${FOLDER}/${object}`], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  for (const line of text.split('\n')) {
    const name = /^[0-9a-f]+ <(\w+)>:$/.exec(line)?.[1];
    if (name !== undefined && !name.startsWith('LBB')) all.set(name, (current = new Map<number, Instruction>()));
    const found = /^\s+(\d+):\s+(.*?)(?: <.*>)?$/.exec(line);
    if (found) current.set(Number(found[1]), instruction(Number(found[1]), found[2]!.trim()));
  }
  return all;
}

/** Instructions that fall through to the beginning of a loop that they are in. */
function fallingBack(code: Map<number, Instruction>): number[] {
  const found: number[] = [];
  const state = new Map<number, 'open' | 'done'>();
  const first = code.keys().next().value!;
  const path: { at: number; left: Instruction['next'][number][] }[] = [{ at: first, left: [...code.get(first)!.next] }];
  state.set(first, 'open');
  for (let top; (top = path.at(-1));) {
    const edge = top.left.shift();
    if (!edge) {
      state.set(path.pop()!.at, 'done');
    } else if (!state.has(edge.to)) {
      state.set(edge.to, 'open');
      path.push({ at: edge.to, left: [...(code.get(edge.to)?.next ?? [])] });
    } else if (state.get(edge.to) === 'open' && !edge.jump) {
      found.push(top.at);
    }
  }
  return found;
}

test('the check itself finds such a loop', () => {
  const lines = ['r1 = 5', 'goto +1', 'r1 += -1', 'if r1 != 0 goto -2', 'exit'];
  const code = new Map(lines.map((line, at) => [at, instruction(at, line)]));
  expect(fallingBack(code)).toEqual([2]);
});

test.each(OBJECTS)('%s', (object) => {
  const all = programs(object);
  expect(all.size).toBeGreaterThan(0);
  for (const [name, code] of all) expect([name, fallingBack(code)]).toEqual([name, []]);
});
