import { defineDiagnostic } from '../../define-diagnostic.ts';
import { ping } from './contract.ts';
import { runPing } from './run.ts';

export const diagnostic = defineDiagnostic(ping, runPing);
