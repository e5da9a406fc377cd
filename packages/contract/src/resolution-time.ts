import { durationSchema } from './formats.ts';
import { Type } from './type.ts';

/** Rules of a scrape: the time to resolve the target is wanted. Agents of earlier releases leave it out. */
export const resolutionRules = {
  resolve: Type.Boolean({ description: 'True if the result must have the time to resolve the target.' }),
};

/** The result field that it requests. */
export const resolutionField = {
  resolve: { ...durationSchema, description: 'Only in scrapes: milliseconds to resolve the target; 0 for an address.' },
};
