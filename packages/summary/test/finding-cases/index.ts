import { answerCases } from './answers.ts';
import { betweenCases } from './between.ts';
import type { FindingCases } from './case.ts';
import { familyCases } from './families.ts';
import { headerCases } from './headers.ts';
import { nameCases } from './names.ts';
import { outageCases } from './outages.ts';
import { pathChangeCases } from './path-changes.ts';
import { pathCases } from './paths.ts';
import { scopeCases } from './scopes.ts';
import { stallCases } from './stalls.ts';
import { webCases } from './web.ts';

/** Per finding: situations that require it, and the nearest ones that must not produce it. */
export const findingCases: FindingCases = {
  ...scopeCases,
  ...nameCases,
  ...familyCases,
  ...betweenCases,
  ...answerCases,
  ...webCases,
  ...pathCases,
  ...headerCases,
  ...pathChangeCases,
  ...outageCases,
  ...stallCases,
};
