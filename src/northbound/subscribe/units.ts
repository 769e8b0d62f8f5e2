// The units that are compared for ON_CHANGE: a section of the state, or each list of a section that consists of lists.
// So a subscription to BGP's session does not read all paths.
import type { CheckedPath, Step } from '../paths.ts';
import { ROOT, type SchemaNode } from '../schema.ts';

export interface Unit {
  /** Its path as text, e.g. `/cnpd/isis/neighbors`. */
  readonly name: string;
  readonly path: CheckedPath;
}

const step = ({ name }: SchemaNode): Step => ({ name, keys: new Map(), keyed: false });

const unitAt = (...nodes: readonly SchemaNode[]): Unit => ({
  name: nodes.map(({ name }) => `/${name}`).join(''),
  path: { steps: nodes.map(step), pattern: true },
});

const isOfLists = ({ kind, children }: SchemaNode): boolean =>
  kind === 'container' && [...children.values()].every((child) => child.kind === 'list');

const UNITS: readonly Unit[] = [...ROOT.children.values()].flatMap((root) =>
  [...root.children.values()].flatMap((section) =>
    isOfLists(section)
      ? [...section.children.values()].map((list) => unitAt(root, section, list))
      : [unitAt(root, section)],
  ),
);

/** Those that have something of what the path selects. */
export const unitsOf = ({ steps }: CheckedPath): readonly Unit[] =>
  UNITS.filter(({ path }) =>
    path.steps.every(({ name }, i) => !steps[i] || steps[i].name === '*' || steps[i].name === name),
  );
