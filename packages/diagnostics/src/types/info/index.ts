import { defineDiagnostic } from '../../define-diagnostic.ts';
import { info } from './contract.ts';
import { runInfo } from './run.ts';

export const diagnostic = defineDiagnostic(info, runInfo);
