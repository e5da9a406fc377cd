// Loaded before a coordinator: adds a byte to the file of VERIFICATIONS_FILE for each signature that the process
// verifies.
import crypto from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const file = process.env['VERIFICATIONS_FILE'];
const { verify } = crypto;

if (file !== undefined) {
  crypto.verify = ((...args: Parameters<typeof verify>) => {
    appendFileSync(file, '.');
    return verify(...args);
  }) as typeof verify;
  syncBuiltinESMExports();
}
