import { open } from 'node:fs/promises';

/** A renamed file survives a power failure only once its directory is written. @throws the system's error */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
