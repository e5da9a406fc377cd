/**
 * To be started inside a network namespace: runs `runLab` with the options in its first argument, and prints the report
 * as JSON.
 */
import { runLab, type LabOptions } from './browser-lab.ts';

const options = JSON.parse(process.argv[2] ?? '') as LabOptions;
process.stdout.write(JSON.stringify(await runLab(options)));
