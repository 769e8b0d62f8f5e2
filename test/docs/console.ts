// The `console` blocks of a page: commands behind `$ `, their further lines behind `> `, and the output that the page
// shows. A line `…` stands for any lines, `…` within a line for anything. Numbers vary from run to run, so of a number,
// with or without a unit, only this counts: whether it is zero.

export interface Step {
  readonly command: string;
  readonly output: readonly string[];
  /** Of the page. */
  readonly line: number;
}

export function consoleSteps(page: string): Step[] {
  const steps: { command: string; output: string[]; line: number }[] = [];
  let inside = false;
  for (const [i, text] of page.split('\n').entries()) {
    if (text.startsWith('```')) inside = text === '```console';
    else if (inside && text.startsWith('$ ')) steps.push({ command: text.slice(2), output: [], line: i + 1 });
    else if (inside && steps.length > 0) {
      const step = steps.at(-1)!;
      if (step.output.length === 0 && text.startsWith('> ')) step.command += `\n${text.slice(2)}`;
      else step.output.push(text);
    }
  }
  return steps;
}

/** Definitions of functions and variables are for all commands behind them. */
export const isDefinition = ({ command }: Step): boolean => /^\w+(?:=|\(\) \{)/.test(command);
/**
 * What only looks may be repeated until it shows what the page does, and so may traffic: where the machine is busy, a
 * host of the lab may send too little at first. Anything else has one chance.
 */
export const mayRepeat = ({ command }: Step): boolean =>
  /\bcnpctl (?:show|doctor)\b|-c 'show |\$roce send |\bpromtool query /.test(command);

const NUMBER = /^(?:0x[0-9a-f]+|\d+(?:\.\d+)?)(?:[a-zA-Z%]{1,4})?$/;
const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

function tokenPattern(token: string): string {
  if (!NUMBER.test(token)) return token.split('…').map(literal).join('.*');
  return /[1-9a-f]/.test(token.replace(/^0x/, '').replace(/[a-zA-Z%]+$/, ''))
    ? String.raw`(?:0x[0-9a-f]+|(?=[0-9.]*[1-9])[0-9.]+[\w%]{0,8})`
    : '0(?:x0+|[.]0+)?[a-zA-Z%]{0,4}';
}

function linePattern(line: string): RegExp {
  const [, text, more] = /^(.*?)(\s+…)?$/.exec(line.trim())!;
  const tokens = text!
    .split(/\s+/)
    .map(tokenPattern)
    .join(String.raw`\s+`);
  return new RegExp(`^${tokens}${more === undefined ? '' : String.raw`(?:\s.*)?`}$`);
}

/** @returns undefined where the output is what is shown, else the shown line that does not come */
export function missing(shown: readonly string[], output: string): string | undefined {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  let next = 0;
  let skips = false;
  for (const line of shown.filter((text) => text.trim() !== '')) {
    if (line.trim() === '…') {
      skips = true;
      continue;
    }
    const pattern = linePattern(line);
    const found = skips ? lines.findIndex((text, i) => i >= next && pattern.test(text)) : next;
    if (found < 0 || found >= lines.length || !pattern.test(lines[found]!)) return line;
    next = found + 1;
    skips = false;
  }
  return skips || next === lines.length ? undefined : `nothing more than this, but there is: ${lines[next]}`;
}
