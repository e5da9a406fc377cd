/** Tests run the TypeScript sources as ES modules; Node itself strips the types. */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'import', 'default'] },
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/infra/jest/strip-types.mjs' },
  testMatch: ['<rootDir>/{packages,apps,infra}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  testTimeout: 20_000,
};
