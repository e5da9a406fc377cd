import { findNode24 } from './node24.mjs';
import { execute, step } from './step.mjs';

/** Builds the table of networks from the package that carries its data; does nothing when it is up to date. */
export function buildGeoData() {
  const node = findNode24();
  step('Preparing the geo data', () =>
    execute(node.executable, ['--conditions=vantage-source', 'packages/geo/src/asn/build-asn.ts']),
  );
}
