// Where `cnpctl doctor --remote` reads another router's state from.
import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Remote } from './context.ts';

/** Fifty times what ten thousand prefixes take. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * @param source a path, or `-`
 * @throws Error with the path in its message
 */
export async function openRemote(source: string): Promise<Remote> {
  if (source === '-') return { kind: 'text', text: await text(process.stdin) };
  const about = await stat(source);
  if (about.isSocket()) return { kind: 'socket' };
  if (about.size > MOST_BYTES) throw new Error(`${source}: ${about.size} bytes are more than the paths of any router`);
  return { kind: 'text', text: await readFile(source, 'utf8') };
}
