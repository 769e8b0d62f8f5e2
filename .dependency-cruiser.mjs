// Import directions of docs/explanation/architecture.md, and no circles. Checked by `npm run lint`.

// component → the other components it may import. `daemon` is the composition root and may import all; `demo` and
// `bench` too.
const GRANTS = {
  model: [],
  packet: ['model'],
  intent: ['model'],
  carriers: ['packet', 'model', 'kernel'],
  learned: ['model'],
  stamp: ['packet', 'model', 'kernel'],
  congestion: ['packet', 'model', 'kernel'],
  groups: ['model'],
  source: ['packet', 'model'],
  'flow-control': ['source', 'packet', 'model', 'kernel'],
  plan: ['intent', 'learned', 'groups', 'model'],
  coordinator: ['plan', 'intent', 'learned', 'groups', 'model', 'kernel'],
  reconcile: ['plan', 'packet', 'kernel', 'model'],
  kernel: ['model'],
  frr: ['model'],
  holo: ['model'],
  // What it says of a part it may ask of its types; how parts are wired is not its business.
  diagnosis: ['plan', 'intent', 'groups', 'carriers', 'packet', 'frr', 'holo', 'kernel', 'model'],
  state: [
    'plan',
    'intent',
    'groups',
    'learned',
    'reconcile',
    'carriers',
    'congestion',
    'source',
    'flow-control',
    'diagnosis',
    'kernel',
    'model',
  ],
  northbound: ['model'],
  cli: ['northbound', 'diagnosis', 'model'],
  recorder: ['model'],
  // A recording is shown as a daemon's state is.
  replay: [
    'recorder',
    'carriers',
    'source',
    'flow-control',
    'learned',
    'coordinator',
    'state',
    'northbound',
    'cli',
    'packet',
    'model',
  ],
  lab: ['source', 'kernel', 'packet', 'model'],
  view: ['lab', 'northbound', 'model'],
};

// Of these only the edge touches the kernel: what they know stays a pure machine.
const EDGES = {
  carriers: '(network|carrier)\\.ts$|\\.edge\\.ts$',
  stamp: '\\.edge\\.ts$',
  congestion: '\\.edge\\.ts$',
  'flow-control': '\\.edge\\.ts$',
  coordinator: '\\.edge\\.ts$',
};

const TESTS = '\\.(test|fixture)\\.ts$';
// Where cnpctl and the lab's commands are put together: like `daemon`, these know everybody; the commands do not.
const ASSEMBLY = '^src/(cli/(main|examine|examine-groups|bundle-sources)|lab/main)\\.ts$';

const directions = Object.entries(GRANTS).map(([component, grants]) => ({
  name: `${component}-may-import`,
  comment: `${component} may import only: ${grants.join(', ') || 'nothing'} (docs/explanation/architecture.md)`,
  severity: 'error',
  from: { path: `^src/${component}/`, pathNot: `${TESTS}|${ASSEMBLY}` },
  to: { path: '^src/', pathNot: `^src/(${[component, ...grants].join('|')})/` },
}));

const edges = Object.entries(EDGES).map(([component, edge]) => ({
  name: `${component}-edge`,
  comment: `of ${component} only the files named ${edge} may import kernel (docs/explanation/architecture.md)`,
  severity: 'error',
  from: { path: `^src/${component}/`, pathNot: `${TESTS}|${edge}` },
  to: { path: '^src/kernel/' },
}));

export default {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'two files that import each other are one thought in two places: move what both need into a third',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...directions,
    ...edges,
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    // Types count: a circle of types is as hard to read as one of values.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/gen/' },
  },
};
