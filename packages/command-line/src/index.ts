export {
  parseFlags,
  parseCheckArguments,
  type CheckArguments,
  type FlagOptions,
  type ParsedArguments,
} from './check-arguments.ts';
export { describeResult, resultDetails } from './describe-result.ts';
export { endWithOutput } from './end-with-output.ts';
export { exitStatus, statusOfResults, type MeasuredResult } from './exit-status.ts';
export { flagName, flagsOf, type Flag } from './flags.ts';
export { checkHelp, helpRow, helpRows, wrapText, type HelpFlags } from './help.ts';
export { jsonText, withoutControls } from './json-text.ts';
export { lineText, piece, table, type Line, type Piece, type Style } from './pieces.ts';
export { requestText } from './request-text.ts';
