// Lint rules, and above all the import directions of docs/architecture.md: a room may import only what the table grants it.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

// room → the other rooms it may import. `daemon` is the composition root and may import all.
const GRANTS = {
  model: [],
  packet: ['model'],
  intent: ['model'],
  carriers: ['packet', 'model', 'kernel'],
  learned: ['model'],
  stamp: ['packet', 'model', 'kernel'],
  congestion: ['packet', 'model', 'kernel'],
  plan: ['intent', 'learned', 'model'],
  reconcile: ['plan', 'kernel', 'model'],
  kernel: ['model'],
  frr: ['model'],
  northbound: ['model'],
  cli: ['northbound', 'model'],
  lab: ['kernel', 'packet', 'model'],
};
const ROOMS = [...Object.keys(GRANTS), 'daemon', 'demo', 'bench'];

/** `../kernel/x.ts`, `../../kernel/x.ts`: rooms import each other by relative paths only. */
const refuse = (rooms, message) => ({ regex: `^(\\.\\./)+(${rooms.join('|')})/`, message });
const forbidden = (room) => ROOMS.filter((other) => other !== room && !GRANTS[room].includes(other));

const importDirections = Object.entries(GRANTS).map(([room, grants]) => ({
  files: [`src/${room}/**/*.ts`],
  // Where cnpctl is put together: like `daemon`, these two know everybody; its commands do not.
  ignores: ['**/*.test.ts', 'src/cli/{main,examine}.ts'],
  rules: {
    'no-restricted-imports': ['error', { patterns: [refuse(forbidden(room), `${room} may import only: ${grants.join(', ') || 'nothing'} (docs/architecture.md)`)] }],
  },
}));
// Of a carrier, of stamp and of congestion only the edge may touch the kernel: what they know stays a pure machine.
const EDGES = { carriers: ['**/{network,carrier}.ts', '**/*.edge.ts'], stamp: ['**/*.edge.ts'], congestion: ['**/*.edge.ts'] };
for (const [room, edge] of Object.entries(EDGES)) {
  importDirections.push({
    files: [`src/${room}/**/*.ts`],
    ignores: ['**/*.test.ts', ...edge],
    rules: {
      'no-restricted-imports': ['error', { patterns: [refuse([...forbidden(room), 'kernel'], `of ${room} only ${edge.join(', ')} may import kernel`)] }],
    },
  });
}

export default tseslint.config(
  { ignores: ['dist/', 'out/', 'node_modules/', 'src/**/gen/'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
  {
    files: ['**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', { selector: 'ExportDefaultDeclaration', message: 'export by name' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
    },
  },
  ...importDirections,
  { files: ['**/*.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
);
