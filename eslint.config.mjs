// Lint rules, and above all the import directions of docs/architecture.md: a room may import only what the table grants it.
import js from '@eslint/js';
import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

// room → the other rooms it may import. `daemon` is the composition root and may import all.
const GRANTS = {
  model: [],
  packet: ['model'],
  intent: ['model'],
  carriers: ['packet', 'model', 'kernel'],
  learned: ['model'],
  plan: ['intent', 'learned', 'model'],
  reconcile: ['plan', 'kernel', 'model'],
  kernel: ['model'],
  frr: ['model'],
  northbound: ['model'],
  cli: ['northbound', 'model'],
  lab: ['kernel', 'packet', 'model'],
};
const ROOMS = [...Object.keys(GRANTS), 'daemon', 'demo', 'bench'];

// Where cnpctl is put together: like `daemon`, these two know everybody; its commands do not.
const COMPOSITION = { cli: '!(main|examine).ts' };

const zones = Object.entries(GRANTS).map(([room, grants]) => ({
  target: room in COMPOSITION ? `./src/${room}/${COMPOSITION[room]}` : `./src/${room}`,
  from: ROOMS.filter((other) => other !== room && !grants.includes(other)).map((other) => `./src/${other}`),
  message: `${room} may import only: ${grants.join(', ') || 'nothing'} (docs/architecture.md)`,
}));
// Of a carrier, only its edge (network.ts and files under edge/) may touch the kernel: its speaker stays a pure machine.
zones.push({
  target: ['./src/carriers/**/!(network|carrier|*.edge).ts'],
  from: './src/kernel',
  message: 'only the network edge of a carrier (network.ts, carrier.ts, *.edge.ts) may import kernel',
});

export default tseslint.config(
  { ignores: ['dist/', 'out/', 'node_modules/', 'src/northbound/gen/'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
  {
    files: ['**/*.ts'],
    plugins: { 'import-x': importX },
    rules: {
      'import-x/no-restricted-paths': ['error', { zones }],
      'import-x/no-default-export': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
    },
  },
  { files: ['**/*.test.ts', 'test/**/*.ts'], rules: { 'import-x/no-restricted-paths': 'off' } },
  { files: ['*.config.ts'], rules: { 'import-x/no-default-export': 'off' } },
);
