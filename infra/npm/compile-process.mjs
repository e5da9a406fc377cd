// node compile-process.mjs FOLDER JSON: compiles in one process of TypeScript 5, which reads its own declarations once.
// JSON is a list of the words of a command line each; prints a list of the diagnostics of each.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, json] = process.argv.slice(2);
const ts = createRequire(join(import.meta.dirname, '../../apps/coordinator/package.json'))('typescript');
process.chdir(folder);

/** By name: the declarations of TypeScript itself. Files that are compiled are not kept, since the options differ. */
const libraries = new Map();

function errorsOf(words) {
  const { options, fileNames, errors } = ts.parseCommandLine(words);
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...how) => {
    if (!/\/typescript\/lib\/lib\.[^/]*\.d\.ts$/.test(name)) return parse(name, ...how);
    if (!libraries.has(name)) libraries.set(name, parse(name, ...how));
    return libraries.get(name);
  };
  const program = ts.createProgram(fileNames, options, host);
  const emitted = program.emit();
  const diagnostics = [...errors, ...ts.getPreEmitDiagnostics(program), ...emitted.diagnostics];
  return ts.formatDiagnostics(diagnostics, host);
}

console.log(JSON.stringify(JSON.parse(json).map(errorsOf)));
