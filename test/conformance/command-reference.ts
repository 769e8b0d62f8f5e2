// Generates docs/reference/commands.md from the command lines of cnpd and cnpctl.
import type { CommandDescription, OptionDescription } from '../../src/cli/reference/describe.ts';
import { placesOf } from '../../src/cli/reference/describe.ts';
import { sentence } from './generated.ts';
import { commandLine, daemonCommandLine } from '../../src/setup/command-lines.ts';

const INTRODUCTION = `# Every command and option

Generated from the command lines of cnpd and cnpctl; \`npm run conformance\` rewrites it. The manual
pages cnpd(8) and cnpctl(8) and the completion of shells come from the same tables. [cli.md](cli.md)
explains what the views of cnpctl show, and the exit codes.
`;

const code = (text: string): string => `\`${text}\``;
const choice = ({ choices }: { choices: readonly string[] }): string =>
  choices.length === 0 ? '' : `One of ${choices.map(code).join(', ')}.`;
const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ');

const option = (each: OptionDescription): string =>
  `- ${code(each.flags)}: ${joined(
    sentence(each.description),
    choice(each),
    each.default === undefined ? '' : `Default: ${code(each.default)}.`,
  )}`;
const isOwn = ({ names }: OptionDescription): boolean => !names.includes('--help');

function command(each: CommandDescription): string {
  const words = [...each.path, ...each.arguments.map(({ term }) => term)].join(' ');
  const below = [
    ...each.arguments
      .filter((argument) => argument.description !== '' || argument.choices.length > 0)
      .map((argument) => `- ${code(argument.term)}: ${joined(sentence(argument.description), choice(argument))}`),
    ...each.options.filter(isOwn).map(option),
  ];
  return [`- ${code(words)}: ${sentence(each.description)}`, ...below.map((line) => `  ${line}`)].join('\n');
}

function program(described: CommandDescription): string {
  // A word that only groups others has no description beyond theirs.
  const [, ...places] = placesOf(described);
  return [
    `## ${described.path[0]}`,
    sentence(described.description),
    'Options of all commands:',
    described.options.filter(isOwn).map(option).join('\n'),
    'Commands:',
    places.map((place) => command(place.command)).join('\n'),
  ].join('\n\n');
}

export const commandReference = (): string =>
  [INTRODUCTION, program(daemonCommandLine()), program(commandLine())].join('\n\n');
