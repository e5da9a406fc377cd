import { defineDiagnostic } from '../../define-diagnostic.ts';
import { dns } from './contract.ts';
import { runDns } from './run.ts';

export const diagnostic = defineDiagnostic(dns, (params, context) => runDns(params, context));
