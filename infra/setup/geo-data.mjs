import { findNode24 } from './node24.mjs';
import { concurrentStep, executeConcurrently } from './step.mjs';

/** Builds the table of networks from the package that carries its data; does nothing when it is up to date. */
export function buildGeoData() {
  const node = findNode24();
  return concurrentStep('Preparing the geo data', () =>
    executeConcurrently(node.executable, ['--conditions=vantage-source', 'packages/geo/src/asn/build-asn.ts']),
  );
}
