import { defineConfig } from 'oxlint';

import { importOverrides } from './infra/lint/import-overrides.ts';
import { filesWithLongFunctions, longCodeRules, longFiles } from './infra/lint/long-code.ts';

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'import', 'node', 'promise', 'oxc'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  options: { typeAware: true },
  env: { node: true, es2024: true },
  ignorePatterns: ['**/dist/**', '**/node_modules/**'],
  rules: {
    eqeqeq: 'error',
    ...longCodeRules,
    'no-console': 'error',
    'no-await-in-loop': 'off',
    'no-shadow': 'off',
    'no-underscore-dangle': 'off',
    'no-unmodified-loop-condition': 'off',
    'prefer-const': 'error',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'import/no-unassigned-import': 'off',
    'node/no-process-env': 'error',
    'oxc/no-map-spread': 'off',
    'promise/always-return': 'off',
    'typescript/consistent-type-imports': 'error',
    'typescript/explicit-module-boundary-types': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-non-null-assertion': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/no-unnecessary-condition': 'off',
    'typescript/require-await': 'off',
    'typescript/switch-exhaustiveness-check': 'error',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-sort': 'error',
    'unicorn/no-thenable': 'off',
    'unicorn/no-array-reverse': 'error',
    'unicorn/prefer-node-protocol': 'error',
  },
  overrides: [
    {
      files: ['**/*.mjs', 'oxlint.config.ts'],
      rules: { 'import/no-default-export': 'off', 'no-console': 'off', 'node/no-process-env': 'off' },
    },
    {
      files: ['**/*.test.ts', '**/test/**', 'packages/test-support/**'],
      rules: { 'node/no-process-env': 'off', 'typescript/unbound-method': 'off' },
    },
    { files: ['**/*.test.{ts,tsx}'], rules: { 'max-lines': 'off', 'max-lines-per-function': 'off' } },
    { files: [...filesWithLongFunctions], rules: { 'max-lines-per-function': 'off' } },
    { files: [...longFiles], rules: { 'max-lines': 'off' } },
    {
      files: ['**/config.ts', '**/main.ts', 'infra/{audit,bench,chaos,command,fuzz}/**'],
      rules: { 'node/no-process-env': 'off' },
    },
    ...importOverrides,
  ],
});
