import { defineDiagnostic } from '../../define-diagnostic.ts';
import { udp } from './contract.ts';
import { runUdp } from './run.ts';

export const diagnostic = defineDiagnostic(udp, runUdp);
