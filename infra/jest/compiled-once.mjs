import vm from 'node:vm';

/** Bytecode of each module by its source text; Jest compiles all modules again for every suite. */
const bytecode = new Map();
/** Scripts compiled without bytecode. Bytecode taken after a suite has run includes the functions that it called. */
let compiled = [];

/** Makes this worker compile each module once. */
export function compileOnce() {
  vm.compileFunction = compileFunction;
  vm.SourceTextModule = CachedModule;
}

/** Keeps the bytecode of the scripts that a suite has compiled and run. */
export function keepBytecode() {
  for (const { source, script } of compiled) bytecode.set(source, script.createCachedData());
  compiled = [];
}

/** Compiles the function as a script: only scripts provide their bytecode after they have run. */
function compileFunction(body, parameters, { filename, importModuleDynamically, parsingContext }) {
  const head = `(function (${parameters.join(', ')}) {`;
  const source = `${head}${body}\n})`;
  const cachedData = bytecode.get(source);
  const script = new vm.Script(source, { filename, importModuleDynamically, columnOffset: -head.length, cachedData });
  if (cachedData === undefined || script.cachedDataRejected) compiled.push({ source, script });
  return script.runInContext(parsingContext);
}

const { SourceTextModule } = vm;

/** An ES module provides bytecode only before it has run: without the functions that V8 compiles at their first call. */
function CachedModule(source, options) {
  const cachedData = bytecode.get(source);
  try {
    const module = new SourceTextModule(source, { ...options, cachedData });
    if (cachedData === undefined) bytecode.set(source, module.createCachedData());
    return module;
  } catch (error) {
    if (error.code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED') throw error;
    // A test has changed flags of V8.
    bytecode.delete(source);
    return new SourceTextModule(source, options);
  }
}
CachedModule.prototype = SourceTextModule.prototype;
