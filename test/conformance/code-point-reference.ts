// Generates docs/reference/code-points.md from the table of code points.
import { CODE_POINTS } from '../../src/model/code-points.ts';
import { sentence } from './generated.ts';

const INTRODUCTION = `# Code points

Generated from the table in the source; \`npm run conformance\` rewrites it.

The drafts leave these values unassigned. cnpd's defaults come from ranges for experiments and
private use. \`code-points\` of [cnpd.yaml](cnpd-yaml.md#code-points) changes them, on all routers of
the domain alike. \`cnpctl show codepoints\` shows those in force.
`;

const hex = (value: number): string => `0x${value.toString(16)}`;

export function codePointReference(): string {
  const rows = CODE_POINTS.map(({ name, description, default: value, min, max, source }) =>
    [
      `- **\`${name}\`**: ${sentence(description)}\\`,
      `  Default ${value} (${hex(value)}), allowed ${min} to ${max}.\\`,
      `  ${sentence(source)}`,
    ].join('\n'),
  );
  return [INTRODUCTION, ...rows].join('\n');
}
