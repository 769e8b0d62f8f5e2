// Abbreviated commands: `cnpctl sh st` is `cnpctl show status`. A word is taken for the one command that it begins, at
// its place in the table; options and arguments are left as they are.
import { type Place, nameOf, placesOf } from './reference/describe.ts';
import type { CommandDescription } from './reference/describe.ts';

/** Words that a released cnpctl took, and what they are called now. They are no longer shown. */
export const FORMER: Readonly<Record<string, string>> = { 'show ospf': 'ospfv2', 'show ospf3': 'ospfv3' };

export type Expanded =
  | { readonly ok: true; readonly argv: readonly string[] }
  | { readonly ok: false; readonly error: string };

export function expandCommands(argv: readonly string[], program: CommandDescription): Expanded {
  const places = new Map(placesOf(program).map((place) => [place.command, place]));
  const expanded = [...argv];
  let { command, options }: Place = places.get(program)!;
  for (let at = 0; at < argv.length && command.commands.length > 0; at++) {
    const word = argv[at]!;
    if (word === '--') break;
    if (word.startsWith('-')) {
      if (options.some(({ names, takesValue }) => takesValue && names.includes(word))) at++;
      continue;
    }
    const meant = commandsMeant(FORMER[[...command.path.slice(1), word].join(' ')] ?? word, command.commands);
    if (meant.length > 1) return { ok: false, error: `"${word}" is ambiguous: ${meant.map(nameOf).join(', ')}` };
    // An argument, or a mistake that the parser names.
    if (meant.length === 0) break;
    expanded[at] = nameOf(meant[0]!);
    ({ command, options } = places.get(meant[0]!)!);
  }
  return { ok: true, argv: expanded };
}

/** A whole name is meant by itself, also where others begin with it: `group` and `groups`. */
function commandsMeant(word: string, commands: readonly CommandDescription[]): readonly CommandDescription[] {
  const exact = commands.find((command) => nameOf(command) === word);
  return exact ? [exact] : commands.filter((command) => word !== '' && nameOf(command).startsWith(word));
}
