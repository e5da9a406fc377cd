import { durationSchema } from './formats.ts';
import { Type } from './type.ts';

/** Rule of scrapes: it requests the time to resolve the target. Agents of earlier releases ignore it. */
export const resolutionRules = {
  resolve: Type.Boolean({ description: 'True if the result must have the time to resolve the target.' }),
};

/** The result field that `resolutionRules` request. */
export const resolutionField = {
  resolve: { ...durationSchema, description: 'Only in scrapes: milliseconds to resolve the target; 0 for an address.' },
};
