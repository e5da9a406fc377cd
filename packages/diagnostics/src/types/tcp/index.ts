import { defineDiagnostic } from '../../define-diagnostic.ts';
import { tcp } from './contract.ts';
import { runTcp } from './run.ts';

export const diagnostic = defineDiagnostic(tcp, runTcp);
