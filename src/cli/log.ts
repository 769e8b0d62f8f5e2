// `cnpctl log`: levels of the log by component, until cnpd ends. Without arguments it shows them.
import type { LevelChange } from '../model/log-levels.ts';
import { type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Column, formatTable } from './table.ts';

const COLUMNS: readonly Column<LevelChange & { readonly isSet: boolean }>[] = [
  { header: 'component', cell: ({ component }) => component },
  { header: 'level', cell: ({ level }) => level },
  { header: 'from', cell: ({ isSet }) => (isSet ? 'cnpctl log' : 'cnpd.yaml') },
];

function levelChange(text: string): LevelChange | undefined {
  const [component, level, ...rest] = text.split('=');
  return component && level && rest.length === 0 ? { component, level } : undefined;
}

export async function log(context: Context, words: readonly string[]): Promise<ExitCode> {
  const changes = words.map(levelChange);
  if (changes.includes(undefined)) {
    context.err('cnpctl: allowed: COMPONENT=LEVEL such as isis=debug, all=info, isis=file (as cnpd.yaml has it)\n');
    return EXIT.usage;
  }
  const levels = await withCnpd(context, (client) => client.logLevels(changes as LevelChange[]));
  if (context.options.output === 'json')
    printJson(
      context,
      levels.map(({ component, level, isSet }) => ({ component, level, set: isSet })),
    );
  else print(context, formatTable(COLUMNS, levels, 'no components'));
  return EXIT.ok;
}
