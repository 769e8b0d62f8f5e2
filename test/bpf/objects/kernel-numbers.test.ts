// What bpf/lib/ writes down of the kernel by hand (kernel.h says why) is what the kernel has: structures and
// enumerators against the BTF of the one that runs, macros and header sizes against its headers for its users.
import { execFileSync } from 'node:child_process';
import { afterAll, expect, test } from 'vitest';
import { Btf } from '../support/btf.ts';
import { type Compiled, compileBpf, compileBpfWith } from '../support/compile.ts';

const machine = execFileSync('uname', ['-m'], { encoding: 'utf8' }).trim();
const compiled: Compiled[] = [];
afterAll(() => compiled.forEach((object) => object.remove()));
const read = (object: Compiled): Btf => {
  compiled.push(object);
  return new Btf(object.path);
};
const ours = read(compileBpf('test/bpf/support/programs/kernel-ours.bpf.c'));
const theirs = read(
  compileBpfWith('clang', 'test/bpf/support/programs/kernel-theirs.bpf.c', [
    '-idirafter',
    `/usr/include/${machine}-linux-gnu`,
  ]),
);
const kernel = new Btf('/sys/kernel/btf/vmlinux');

/** Of Linux 6.3 and 6.5: what is asked for only where the kernel has it. */
const RECENT = ['BPF_F_ADJ_ROOM_DECAP_L3_IPV4', 'BPF_FIB_LOOKUP_SKIP_NEIGH', 'BPF_FIB_LOOKUP_TBID'];

const enumerators = Object.entries(ours.enumeration('enumerator')).map(
  ([name, value]) => [name.replace(/^NUMBER_/, ''), value] as const,
);
const known = kernel.enumerators();

test.each(enumerators.filter(([name]) => known.has(name) || !RECENT.includes(name)))('%s', (name, value) =>
  expect(value).toBe(known.get(name)),
);

test('macros and sizes of headers', () => {
  expect(Object.keys(ours.enumeration('macro')).length).toBeGreaterThan(30);
  expect(ours.enumeration('macro')).toEqual(theirs.enumeration('macro'));
});

test.each(['__sk_buff', 'bpf_fib_lookup', 'bpf_redir_neigh', 'bpf_spin_lock', 'bpf_timer'])('struct %s', (name) => {
  const [here, there] = [ours.places(name), kernel.places(name)];
  // What is inside a timer is nobody's business.
  const fields = [...here.fields.keys()].filter((field) => field !== 'opaque');
  expect(here.size).toBe(there.size);
  expect(fields.map((field) => [field, here.fields.get(field)])).toEqual(
    fields.map((field) => [field, there.fields.get(field)]),
  );
});
