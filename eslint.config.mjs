// Lint rules. Import directions and circles: .dependency-cruiser.mjs; layout: .prettierrc.json and .clang-format.
import js from '@eslint/js';
import stylistic from '@stylistic/eslint-plugin';
import tseslint from 'typescript-eslint';

const typeAware = {
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/no-unsafe-argument': 'error',
  '@typescript-eslint/no-unsafe-assignment': 'error',
  '@typescript-eslint/no-unsafe-call': 'error',
  '@typescript-eslint/no-unsafe-member-access': 'error',
  '@typescript-eslint/no-unsafe-return': 'error',
  '@typescript-eslint/no-base-to-string': 'error',
};

const NO_DEFAULT_EXPORT = { selector: 'ExportDefaultDeclaration', message: 'export by name' };

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
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { '@stylistic': stylistic },
    rules: {
      'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      ...typeAware,
      // Prettier leaves comments as they are. What cannot be broken (a string, a diagram of a packet) may be longer.
      '@stylistic/max-len': [
        'error',
        { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true, ignoreUrls: true },
      ],
    },
  },
  // Vitest's matchers (expect.objectContaining, expect.any) are of type any, and stand where values stand.
  {
    files: ['**/*.{test,fixture}.ts', 'test/**/*.ts'],
    rules: { '@typescript-eslint/no-unsafe-assignment': 'off' },
  },
  {
    files: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': ['error', { name: 'vitest', importNames: ['it'], message: 'a test is called test' }],
      'no-restricted-syntax': [
        'error',
        NO_DEFAULT_EXPORT,
        {
          selector: 'MemberExpression[object.name=/^(expect|vi)$/][property.name=/^(poll|waitFor|waitUntil)$/]',
          message: 'whoever waits uses until of test/support/until.ts',
        },
      ],
    },
  },
  { files: ['**/*.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
);
