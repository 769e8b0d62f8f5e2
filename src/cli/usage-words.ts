// What commander says of a command line, in the words of cnpd's other errors.
import { explainNoFilter } from './filters.ts';

/** @param program `cnpctl` or `cnpd`: other errors begin with it too */
export function usageWords(program: string, message: string): string {
  const said = explainNoFilter(message)
    .replace(/^error: command-argument value '([^]*)' is invalid for argument '([^']*)'\. /, 'error: $2: found "$1"; ')
    .replace(/^error: option '([^']*)' argument '([^]*)' is invalid\. /, 'error: $1: found "$2"; ');
  return said.replace(/^error: /, `${program}: `);
}
