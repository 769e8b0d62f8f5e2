// Manual pages in the macros of man(7), generated from the table of commands and a few sections of text.
import { type CommandDescription, type OptionDescription, nameOf, placesOf } from './describe.ts';

export interface ManualText {
  readonly version: string;
  /** Paragraphs under DESCRIPTION. */
  readonly description: readonly string[];
  /** Sections behind the commands, in order: term and text of each entry. */
  readonly sections: readonly { readonly title: string; readonly entries: readonly (readonly [string, string])[] }[];
  readonly seeAlso: readonly string[];
}

export function manualPage(program: CommandDescription, text: ManualText): string {
  const name = nameOf(program);
  const [, ...below] = placesOf(program);
  const commands = below.map(({ command }) => command);
  const lines = [
    String.raw`.\" Generated from the table of commands.`,
    `.TH ${name.toUpperCase()} 8 "" "cnpd ${text.version}" "System Manager's Manual"`,
    '.SH NAME',
    String.raw`${name} \- ${escaped(program.description.replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    ...synopsis(name, program),
    '.SH DESCRIPTION',
    text.description.map(escaped).join('\n.PP\n'),
    '.SH OPTIONS',
    ...program.options.flatMap(option),
    ...(commands.length > 0 ? ['.SH COMMANDS', ...commands.flatMap((command) => entry(program, command))] : []),
    ...text.sections.flatMap(({ title, entries }) => [
      `.SH ${title}`,
      ...entries.flatMap(([term, meaning]) => tagged(bold(term), meaning)),
    ]),
    '.SH SEE ALSO',
    text.seeAlso.map((page) => page.replace(/^(.*)\((\d)\)$/, String.raw`\fB$1\fR(\|$2\|)`)).join(', '),
  ];
  return `${lines.join('\n')}\n`;
}

/** Text in which no character is taken for a request or an escape. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll(/^(?=[.'])/gm, String.raw`\&`);
const bold = (text: string): string => String.raw`\fB${escaped(text)}\fR`;
const tagged = (term: string, text: string): string[] => ['.TP', term, escaped(text)];

/** Names bold, placeholders in italics. */
const flagsOf = (flags: string): string =>
  flags
    .split(/([<[][^>\]]+[>\]])/)
    .filter((part) => part !== '')
    .map((part) => (/^[<[]/.test(part) ? String.raw`\fI${escaped(part)}\fR` : bold(part)))
    .join('');

function synopsis(name: string, { commands }: CommandDescription): string[] {
  return ['.B ' + name, String.raw`[\fIoptions\fR]`, ...(commands.length > 0 ? [String.raw`[\fIcommand\fR]`] : [])];
}

function option({ flags, description, choices, default: value }: OptionDescription): string[] {
  const more = [
    ...(choices.length > 0 ? [`one of ${choices.join(', ')}`] : []),
    ...(value === undefined ? [] : [`default: ${value}`]),
  ];
  return tagged(flagsOf(flags), `${description}${more.length > 0 ? ` (${more.join('; ')})` : ''}`);
}

function entry(program: CommandDescription, command: CommandDescription): string[] {
  const terms = command.arguments.map(({ term }) => ` ${flagsOf(term)}`).join('');
  const own = command.options.filter(({ names }) => !names.includes('--help'));
  const given = command.arguments.filter(({ description }) => description !== '');
  return [
    ...['.TP', `${bold(command.path.slice(program.path.length).join(' '))}${terms}`, escaped(command.description)],
    ...(own.length + given.length === 0
      ? []
      : [
          '.RS',
          ...given.flatMap(({ term, description }) => tagged(flagsOf(term), description)),
          ...own.flatMap(option),
          '.RE',
        ]),
  ];
}
