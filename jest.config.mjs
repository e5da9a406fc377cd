/** Tests run the TypeScript sources as ES modules; Node itself strips the types. */
export default {
  testEnvironment: 'node',
  // Not `import`: it would reach the require() of CommonJS packages too, and hand them ES modules.
  testEnvironmentOptions: { customExportConditions: ['source', 'node'] },
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/infra/jest/strip-types.mjs' },
  testMatch: ['<rootDir>/{packages,apps,infra}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  maxWorkers: 2,
  reporters: ['default', '<rootDir>/infra/jest/closing-line.mjs'],
  // Much more than any takes: machines may be busy, and stand still.
  testTimeout: 60_000,
};
