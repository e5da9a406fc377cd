import type { AnyCheckType } from '@vantage/contract';

import type { CheckTypeName } from './contract.ts';
import type { Diagnostic } from './diagnostic.ts';

/**
 * Loads the code of a check type on first use, so that an agent loads only the types that it runs. The folder in
 * `types/` has the type's name, as a test verifies.
 */
export async function loadDiagnostic(type: CheckTypeName): Promise<Diagnostic<AnyCheckType>> {
  const module = (await import(`./types/${type}/index.ts`)) as {
    readonly diagnostic: Diagnostic<AnyCheckType>;
  };
  return module.diagnostic;
}
