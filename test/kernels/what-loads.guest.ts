// Runs in a guest (former-kernel.test.ts): what its kernel lacks, and which programs load. Prints it as JSON.
import { whatLoads } from './loading.ts';

process.stdout.write(`${JSON.stringify(await whatLoads())}\n`);
