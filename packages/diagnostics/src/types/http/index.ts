import { defineDiagnostic } from '../../define-diagnostic.ts';
import { http } from './contract.ts';
import { runHttp } from './run.ts';

export const diagnostic = defineDiagnostic(http, runHttp);
