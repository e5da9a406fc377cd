/**
 * Events of the process whose listeners belong to the suite that adds them. Listeners of other events may belong to a
 * module, which adds them when it is loaded.
 */
const EVENTS = /^(?:SIG[A-Z0-9]+|uncaughtException|unhandledRejection)$/;

/**
 * @returns a function that restores the present state: environment, folder, exit code, listeners of `EVENTS`, globals
 *   and the properties of `process`
 */
export function rememberProcess() {
  const env = { ...process.env };
  const folder = process.cwd();
  const { exitCode } = process;
  const restoreGlobals = rememberProperties(globalThis);
  const restoreProcess = rememberProperties(process, (name) => !name.startsWith('_') && name !== 'exitCode');
  const listeners = listenersOf(process);
  return () => {
    for (const [event, listener] of listenersOf(process)) {
      if (!listeners.some(([, known]) => known === listener)) process.removeListener(event, listener);
    }
    restoreProcess();
    restoreGlobals();
    process.exitCode = exitCode;
    if (process.cwd() !== folder) process.chdir(folder);
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  };
}

/** Properties with symbol keys are left out: there, Node and packages keep objects that live as long as the process. */
function rememberProperties(object, counts = () => true) {
  const namesOf = () => Object.getOwnPropertyNames(object).filter((name) => counts(name));
  const known = new Map(namesOf().map((name) => [name, Object.getOwnPropertyDescriptor(object, name)]));
  return () => {
    for (const name of namesOf()) if (!known.has(name)) delete object[name];
    for (const [name, before] of known) {
      const now = Object.getOwnPropertyDescriptor(object, name);
      const same = now !== undefined && now.value === before.value && now.get === before.get && now.set === before.set;
      if (!same) Object.defineProperty(object, name, before);
    }
  };
}

function listenersOf(emitter) {
  return emitter
    .eventNames()
    .filter((event) => typeof event === 'string' && EVENTS.test(event))
    .flatMap((event) => emitter.rawListeners(event).map((listener) => [event, listener]));
}
