import { defineDiagnostic } from '../../define-diagnostic.ts';
import { traceroute } from './contract.ts';
import { runTraceroute } from './run.ts';

export const diagnostic = defineDiagnostic(traceroute, runTraceroute);
