// docs/reference/yang.md has the tree of the module as yanglint, of libyang, draws it. To rewrite the page:
// UPDATE_CONFORMANCE=1 npx vitest run --project bpf test/codec/yang-tree.test.ts
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { expectGenerated } from '../conformance/generated.ts';

const INTRODUCTION = `# The YANG tree

Generated from [yang/cnpd.yang](../../yang/cnpd.yang), which describes each leaf. [gnmi.md](gnmi.md)
says how the tree is served, and what of it can be set.
`;

test('docs/reference/yang.md has the tree of yang/cnpd.yang', async () => {
  const args = ['-p', 'yang', '-f', 'tree', 'yang/cnpd.yang'];
  const { status, stdout, stderr } = spawnSync('yanglint', args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  await expectGenerated('docs/reference/yang.md', `${INTRODUCTION}\n\`\`\`text\n${stdout.trimEnd()}\n\`\`\`\n`);
});
