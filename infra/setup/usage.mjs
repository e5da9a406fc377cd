/** Usage of `npm test` and `npm run check`. */
export const checkUsage = `Runs all tests and, while they run, checks format, types, lint, dead code and reference pages. npm test runs the
set-up first.

  npm test -- [arguments of jest]
  npm run check -- [arguments of jest]

  npm run jest -- PATH   runs some tests, without the other checks
  --help                 this text`;
