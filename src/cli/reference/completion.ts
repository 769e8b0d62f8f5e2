// Completion scripts for shells, generated from the table of commands. All three walk the words before the cursor from
// command to command, skip the values of options, and offer what is valid at that place. A command may be abbreviated
// as cnpctl takes it (abbreviations.ts). They start no program.
import { FORMER } from '../abbreviations.ts';
import { type CommandDescription, type OptionDescription, type Place, nameOf, placesOf } from './describe.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell, program: CommandDescription): string {
  const lines = { bash, zsh, fish }[shell](nameOf(program), placesOf(program));
  return `${lines.join('\n')}\n`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const words = (list: readonly string[]): string => quoted(list.join(' '));
const at = ({ command }: Place): string => command.path.join(' ');
const namesOf = (options: readonly OptionDescription[]): string[] => options.flatMap(({ names }) => names);
const withValue = ({ options }: Place): OptionDescription[] => options.filter(({ takesValue }) => takesValue);
/** Every option that takes a value, once for each way to complete it. */
function valueOptions(places: readonly Place[]): OptionDescription[] {
  const all = places.flatMap(withValue).map((option) => [option.names.join('|'), option] as const);
  return [...new Map(all).values()];
}
const argumentWords = ({ command }: Place): string[] =>
  command.arguments.flatMap(({ choices, offers }) => [...choices, ...offers]);
/** Former names with their places, and what they are called now. */
const formerIn = (places: readonly Place[]): [string, string][] =>
  places.flatMap(({ command: { path, commands } }) =>
    Object.entries(FORMER)
      .map(([words, meant]): [string, string] => [[path[0], words].join(' '), meant])
      .filter(([words, meant]) =>
        commands.some((sub) => nameOf(sub) === meant && words.startsWith(`${path.join(' ')} `)),
      )
      .map(([words, meant]): [string, string] => [quoted(words), meant]),
  );
const takesFile = ({ command }: Place): boolean => command.arguments.some(({ completes }) => completes === 'file');

const bash = (name: string, places: readonly Place[]): string[] => [
  `# Completion of ${name} for bash(1).`,
  `_${name}_at() {`,
  '  files=',
  '  case $1 in',
  ...places.map(
    (place) =>
      `  ${quoted(at(place))}) commands=${words([...place.command.commands.map(nameOf), ...argumentWords(place)])}` +
      ` options=${words(namesOf(place.options))} takes=${words(namesOf(withValue(place)))}` +
      `${takesFile(place) ? ' files=1' : ''} ;;`,
  ),
  '  esac',
  '}',
  `_${name}_meant() {`,
  '  local one word=$1 found=0',
  '  case "$at $word" in',
  ...formerIn(places).map(([former, meant]) => `  ${former}) word=${meant} ;;`),
  '  esac',
  '  meant=',
  '  for one in $commands; do',
  '    [[ $one == "$word" ]] && meant=$one && return',
  '    [[ -n $word && $one == "$word"* ]] && meant=$one && ((found += 1))',
  '  done',
  '  ((found == 1)) || meant=',
  '}',
  `_${name}() {`,
  String.raw`  local IFS=$' \t\n'`,
  `  local at=${name} commands options takes files word meant value= stem= cur=\${COMP_WORDS[COMP_CWORD]} i`,
  // Bash takes the sign as a word of its own.
  '  ((COMP_CWORD > 1)) && [[ $cur == = ]] && stem=${COMP_WORDS[COMP_CWORD - 1]}=',
  '  ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]] && stem=${COMP_WORDS[COMP_CWORD - 2]}=',
  '  [[ $cur == = ]] && cur=',
  `  _${name}_at "$at"`,
  '  for ((i = 1; i < COMP_CWORD; i++)); do',
  '    word=${COMP_WORDS[i]}',
  '    [[ $word == = ]] && continue',
  '    if [[ -n $value ]]; then value=',
  '    elif [[ " $takes " == *" $word "* ]]; then value=$word',
  `    else _${name}_meant "$word"; [[ -n $meant ]] && at+=" $meant" && _${name}_at "$at"`,
  '    fi',
  '  done',
  '  COMPREPLY=()',
  '  case $value in',
  "  '') ;;",
  ...valueOptions(places).map(
    (option) => `  ${option.names.join('|')}) mapfile -t COMPREPLY < <(${bashValue(option)}); return ;;`,
  ),
  '  *) return ;;',
  '  esac',
  '  if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")',
  '  else',
  '    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$stem$cur"; [[ -n $files ]] && compgen -f -- "$cur")',
  '    [[ -n $stem ]] && COMPREPLY=("${COMPREPLY[@]#"$stem"}")',
  '  fi',
  '}',
  `complete -o filenames -F _${name} ${name}`,
];

function bashValue({ choices, completes }: OptionDescription): string {
  if (choices.length > 0) return `compgen -W ${words(choices)} -- "$cur"`;
  return { file: 'compgen -f -- "$cur"', directory: 'compgen -d -- "$cur"', nothing: ':' }[completes];
}

/** `name:what it does`, for _describe. */
const described = (name: string, text: string): string => quoted(`${name.replaceAll(':', String.raw`\:`)}:${text}`);

const zsh = (name: string, places: readonly Place[]): string[] => [
  `#compdef ${name}`,
  `# Completion of ${name} for zsh(1).`,
  `_${name}_at() {`,
  '  files=',
  '  case $1 in',
  ...places.flatMap((place) => [
    `  ${quoted(at(place))})`,
    `    commands=(${[
      ...place.command.commands.map((sub) => described(nameOf(sub), sub.description)),
      ...argumentWords(place).map((word) => quoted(word)),
    ].join(' ')})`,
    `    options=(${place.options.flatMap(({ names, description }) => names.map((one) => described(one, description))).join(' ')})`,
    `    takes=(${namesOf(withValue(place)).join(' ')})`,
    ...(takesFile(place) ? ['    files=1'] : []),
    '    ;;',
  ]),
  '  esac',
  '}',
  `_${name}_meant() {`,
  '  local word=$1',
  '  local -a found',
  '  case "$at $word" in',
  ...formerIn(places).map(([former, meant]) => `  ${former}) word=${meant} ;;`),
  '  esac',
  '  meant=',
  '  if (( ${commands[(I)${(b)word}:*]} )); then meant=$word; return; fi',
  '  found=(${(M)commands:#${(b)word}*})',
  '  [[ -n $word ]] && (( $#found == 1 )) && meant=${found[1]%%:*}',
  '}',
  `_${name}() {`,
  `  local at=${name} word meant value= files= i`,
  '  local -a commands options takes',
  `  _${name}_at "$at"`,
  '  for ((i = 2; i < CURRENT; i++)); do',
  '    word=${words[i]}',
  '    if [[ -n $value ]]; then value=',
  '    elif (( ${takes[(Ie)$word]} )); then value=$word',
  `    else _${name}_meant "$word"; [[ -n $meant ]] && at+=" $meant" && _${name}_at "$at"`,
  '    fi',
  '  done',
  '  case $value in',
  "  '') ;;",
  ...valueOptions(places).map((option) => `  ${option.names.join('|')}) ${zshValue(option)}; return ;;`),
  '  *) return ;;',
  '  esac',
  '  if [[ $PREFIX == -* ]]; then _describe -o option options; return; fi',
  '  [[ -n $files ]] && _files',
  '  _describe command commands',
  '}',
  `if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi`,
];

function zshValue({ choices, completes, names }: OptionDescription): string {
  if (choices.length > 0) return `compadd -- ${choices.map(quoted).join(' ')}`;
  return { file: '_files', directory: '_files -/', nothing: `_message ${quoted(`value of ${names.at(-1)}`)}` }[
    completes
  ];
}

const fish = (name: string, places: readonly Place[]): string[] => [
  `# Completion of ${name} for fish(1).`,
  `function __${name}_commands`,
  '  switch "$argv"',
  ...places.map((place) => `    case ${quoted(at(place))}; echo ${place.command.commands.map(nameOf).join(' ')}`),
  '  end',
  'end',
  `function __${name}_takes`,
  '  switch "$argv"',
  ...places.map((place) => `    case ${quoted(at(place))}; echo ${namesOf(withValue(place)).join(' ')}`),
  '  end',
  'end',
  `function __${name}_meant`,
  '  set -l word $argv[2]',
  '  switch "$argv"',
  ...formerIn(places).map(([former, meant]) => `    case ${former}; set word ${meant}`),
  '  end',
  `  set -l commands (__${name}_commands $argv[1] | string split " ")`,
  '  if contains -- $word $commands; echo $word; return; end',
  '  set -l found (string match -r -- "^"(string escape --style=regex -- $word)".*" $commands)',
  '  if test -n "$word" -a (count $found) -eq 1; echo $found; end',
  'end',
  `function __${name}_at`,
  `  set -l at ${name}`,
  '  set -l value',
  '  for word in (commandline -opc)[2..]',
  '    if set -q value[1]; set value',
  `    else if contains -- $word (__${name}_takes $at | string split " "); set value $word`,
  `    else if set -l meant (__${name}_meant $at $word); and set -q meant[1]; set at "$at $meant"`,
  '    end',
  '  end',
  '  test "$at" = "$argv"',
  'end',
  `complete -c ${name} -f`,
  ...places.flatMap((place) => {
    const here = `complete -c ${name} -n ${quoted(`__${name}_at ${at(place)}`)}`;
    return [
      ...place.command.commands.map((sub) => `${here} -a ${nameOf(sub)} -d ${quoted(sub.description)}`),
      ...argumentWords(place).map((word) => `${here} -a ${word}`),
      ...(takesFile(place) ? [`${here} -F`] : []),
      ...place.options.map((option) => `${here} ${fishOption(option)}`),
    ];
  }),
];

function fishOption({ names, description, takesValue, choices, completes }: OptionDescription): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  // -x: a value, and no files. -r: a value, which may be a file.
  const value = choices.length > 0 ? `-x -a ${words(choices)}` : FISH_VALUE[completes];
  return [...flags, ...(takesValue ? [value] : []), `-d ${quoted(description)}`].join(' ');
}

const FISH_VALUE = { file: '-r -F', directory: `-x -a '(__fish_complete_directories)'`, nothing: '-x' } as const;
