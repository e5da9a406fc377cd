import { answerCases } from './answers.ts';
import type { FindingCases } from './case.ts';
import { nameCases } from './names.ts';
import { pathCases } from './paths.ts';
import { scopeCases } from './scopes.ts';
import { webCases } from './web.ts';

/** Of every finding: situations in which it must be, and the nearest ones in which it would be false. */
export const findingCases: FindingCases = { ...scopeCases, ...nameCases, ...answerCases, ...webCases, ...pathCases };
