// The titles under which the tests of a file run, for docs/conformance.md. A requirement counts as tested only where a
// test runs that names it, so the file is read as TypeScript: what is commented out, skipped, or still to be written
// names nothing; the title of a group does when a test that runs is in it; and of `each`, whose title says %s, the
// names that its rows put there do.
import ts from 'typescript';

const TESTS = new Set(['it', 'test']);
const GROUPS = new Set(['describe', 'suite']);
const NOT_RUN = new Set(['skip', 'todo', 'fails']);

interface Call {
  readonly kind: 'test' | 'group';
  readonly modifiers: readonly string[];
  /** What is given to `each` and `for`. */
  readonly tables: readonly ts.Node[];
}

/** `test.each(rows)('…', …)`, `describe('…', …)`: which it is; undefined for any other call. */
function callOf(call: ts.CallExpression): Call | undefined {
  const modifiers: string[] = [];
  const tables: ts.Node[] = [];
  let at: ts.Expression = call.expression;
  for (;;) {
    if (ts.isPropertyAccessExpression(at)) {
      modifiers.push(at.name.text);
      at = at.expression;
    } else if (ts.isCallExpression(at)) {
      tables.push(...at.arguments);
      at = at.expression;
    } else if (ts.isTaggedTemplateExpression(at)) {
      at = at.tag;
    } else break;
  }
  if (!ts.isIdentifier(at)) return undefined;
  const kind = TESTS.has(at.text) ? 'test' : GROUPS.has(at.text) ? 'group' : undefined;
  return kind && { kind, modifiers, tables };
}

/**
 * The text of a string or template, or of several joined by `+`; undefined for anything else. What a template computes
 * is looked up among the constants of the file.
 */
function textOf(node: ts.Node | undefined, constants: ReadonlyMap<string, string>): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left, constants), textOf(node.right, constants)];
    return left !== undefined && right !== undefined ? left + right : undefined;
  }
  if (!ts.isTemplateExpression(node)) return undefined;
  const parts = node.templateSpans.map(({ expression, literal }) => {
    const name = ts.isElementAccessExpression(expression) ? expression.expression : expression;
    return (ts.isIdentifier(name) ? (constants.get(name.text) ?? '') : '') + literal.text;
  });
  return node.head.text + parts.join('');
}

/** The strings that the rows of `each` put into a title: each row, or the first of its columns. */
const rowNames = (tables: readonly ts.Node[], constants: ReadonlyMap<string, string>): string[] =>
  tables.flatMap((table) => {
    const list = ts.isAsExpression(table) ? table.expression : table;
    if (!ts.isArrayLiteralExpression(list)) return [];
    return list.elements.flatMap(
      (row) => textOf(ts.isArrayLiteralExpression(row) ? row.elements[0] : row, constants) ?? [],
    );
  });

/** Name → all strings in what it is set to, for the constants at the top of the file. */
function constantsOf(file: ts.SourceFile): Map<string, string> {
  const constants = new Map<string, string>();
  const stringsIn = (node: ts.Node): string => {
    let text = ts.isStringLiteralLike(node) ? `${node.text} ` : '';
    ts.forEachChild(node, (child) => void (text += stringsIn(child)));
    return text;
  };
  for (const statement of file.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (ts.isIdentifier(name) && initializer && !ts.isArrowFunction(initializer))
        constants.set(name.text, stringsIn(initializer));
    }
  }
  return constants;
}

/** Titles of the tests of a file that run, and of the groups that contain one. */
export const titlesOf = (name: string, text: string): string[] => readTitles(name, text).running;

/** Titles of the tests and groups that are written and do not run. */
export const skippedTitlesOf = (name: string, text: string): string[] => readTitles(name, text).skipped;

/** Both, in one reading. */
export function readTitles(name: string, text: string): { readonly running: string[]; readonly skipped: string[] } {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const constants = constantsOf(file);
  const titles: string[] = [];
  const skipped: string[] = [];
  /** True when a test that runs is below. */
  const visit = (node: ts.Node): boolean => {
    const call = ts.isCallExpression(node) ? callOf(node) : undefined;
    if (!call || !ts.isCallExpression(node)) {
      let found = false;
      ts.forEachChild(node, (child) => void (found = visit(child) || found));
      return found;
    }
    const title = textOf(node.arguments[0], constants);
    if (title === undefined) return false;
    if (call.modifiers.some((modifier) => NOT_RUN.has(modifier))) {
      skipped.push(title, ...(title.includes('%s') ? rowNames(call.tables, constants) : []));
      return false;
    }
    const bodies = node.arguments.slice(1).map(visit);
    const runs = call.kind === 'test' ? node.arguments.length > 1 : bodies.includes(true);
    if (runs) titles.push(title, ...(title.includes('%s') ? rowNames(call.tables, constants) : []));
    return runs;
  };
  visit(file);
  return { running: titles, skipped };
}
