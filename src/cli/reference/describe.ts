// A command line as plain data, read from commander: what completion, manual pages and abbreviations are made from.
import type { Argument, Command, Option } from 'commander';
import { LOG_CHANGES } from '../../model/log-levels.ts';

export interface CommandDescription {
  /** From the program on: `cnpctl`, `show`, `bgp`. */
  readonly path: readonly string[];
  readonly description: string;
  readonly arguments: readonly ArgumentDescription[];
  /** Its own; those of the commands above it are valid too. */
  readonly options: readonly OptionDescription[];
  readonly commands: readonly CommandDescription[];
}

interface ArgumentDescription {
  /** As in a synopsis: `<group>`, `[address]`. */
  readonly term: string;
  readonly description: string;
  readonly choices: readonly string[];
  /** What completion offers, too long for help. */
  readonly offers: readonly string[];
  readonly completes: Completes;
}

export interface OptionDescription {
  /** `-o, --output <format>` */
  readonly flags: string;
  /** `-o`, `--output` */
  readonly names: readonly string[];
  readonly description: string;
  /** Whether the next word is its value in any case. */
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly completes: Completes;
  readonly default?: string;
}

/** What a shell offers for a value without choices. */
type Completes = 'file' | 'directory' | 'nothing';

/** By the placeholder of the value. */
const COMPLETES: Readonly<Record<string, Completes>> = {
  file: 'file',
  files: 'file',
  path: 'file',
  source: 'file',
  dir: 'directory',
};

/** By the name of the argument. */
const OFFERS: Readonly<Record<string, readonly string[]>> = { changes: LOG_CHANGES };

export function describeCommand(command: Command, above: readonly string[] = []): CommandDescription {
  const help = command.createHelp();
  const path = [...above, command.name()];
  return {
    path,
    description: command.description(),
    arguments: command.registeredArguments.map(describeArgument),
    options: help.visibleOptions(command).map(describeOption),
    commands: help
      .visibleCommands(command)
      .filter((sub) => command.commands.includes(sub))
      .map((sub) => describeCommand(sub, path)),
  };
}

const describeArgument = (argument: Argument): ArgumentDescription => ({
  term: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  description: argument.description,
  choices: argument.argChoices ?? [],
  offers: OFFERS[argument.name()] ?? [],
  completes: COMPLETES[argument.name()] ?? 'nothing',
});

function describeOption(option: Option): OptionDescription {
  const placeholder = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? '';
  const value: unknown = option.defaultValue;
  return {
    flags: option.flags,
    names: [option.short, option.long].filter((name) => name !== undefined && name !== null),
    description: option.description,
    takesValue: option.required,
    choices: option.argChoices ?? [],
    completes: COMPLETES[placeholder] ?? 'nothing',
    ...((typeof value === 'string' || typeof value === 'number') && { default: String(value) }),
  };
}

/** A command and all below it, with the options that are valid there: its own, then those above. */
export interface Place {
  readonly command: CommandDescription;
  readonly options: readonly OptionDescription[];
}

export function placesOf(command: CommandDescription, above: readonly OptionDescription[] = []): Place[] {
  const own = new Set(command.options.flatMap(({ names }) => names));
  const options = [...command.options, ...above.filter(({ names }) => !names.some((name) => own.has(name)))];
  // `--version` is of the program alone.
  const passedOn = options.filter(({ names }) => !names.includes('--version'));
  return [{ command, options }, ...command.commands.flatMap((sub) => placesOf(sub, passedOn))];
}

export const nameOf = ({ path }: Pick<CommandDescription, 'path'>): string => path.at(-1)!;
