// StrykerJS's settings. What to mutate and where the report goes comes from mutate.mjs.
const report = process.env.MUTATION_REPORT ?? 'out/mutation/report';

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: true },
  // Only the tests that run a changed line are run. What runs once, when a file is imported, cannot be switched on
  // later and is left out.
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  concurrency: 1,
  timeoutMS: 20_000,
  tempDirName: 'out/mutation/tmp',
  cleanTempDir: 'always',
  ignorePatterns: ['/dist', '/out', '/containerlab', '/test/e2e', '/test/bpf', '/test/kernel'],
  // The wording of messages is not what tests are for; that a string decides something, the compiler mostly knows.
  mutator: { excludedMutations: ['StringLiteral'] },
  reporters: ['json', 'html', 'clear-text', 'progress-append-only'],
  clearTextReporter: { logTests: false, reportTests: false, reportScoreTable: false, allowColor: false },
  jsonReporter: { fileName: `${report}.json` },
  htmlReporter: { fileName: `${report}.html` },
};
