import { Command } from 'ioredis';

/** The internals of ioredis' command that create its promise. */
interface CommandInternals {
  readonly name: string;
  readonly callback: unknown;
  readonly errorStack: unknown;
  args: unknown[];
  transformed: boolean;
  isResolved: boolean;
  isSettled: boolean;
  promise: Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  initPromise: () => void;
  readonly stringifyArguments: () => void;
  readonly _convertValue: (resolve: (value: unknown) => void) => (value: unknown) => void;
  readonly _clearTimers: () => void;
}

type Transformers = Readonly<Record<string, ((args: unknown[]) => unknown[]) | undefined>>;

const { _transformer } = Command as unknown as { readonly _transformer: { readonly argument: Transformers } };
const prototype = Command.prototype as unknown as CommandInternals;
const { initPromise } = prototype;

/**
 * Lets collections of the young generation free settled commands. ioredis assigns an arrow function to a property of
 * each, which V8 may allocate in the old generation: there the function, though unused, keeps its command, arguments
 * and reply until the next full collection. Affects all commands of this process.
 */
export function keepCommandsYoung(): void {
  prototype.initPromise = function initYoung(this: CommandInternals): void {
    if (this.callback !== undefined || this.errorStack !== undefined) {
      initPromise.call(this);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers();
    this.isResolved = false;
    this.isSettled = false;
    this.promise = promise;
    this.resolve = this._convertValue(resolve);
    this.reject = rejectionOf(this, reject);
    try {
      prepare(this);
    } catch (error) {
      reject(error);
    }
  };
}

/** The function is returned, not assigned, so that V8 allocates it in the young generation. */
function rejectionOf(command: CommandInternals, reject: (error: Error) => void): (error: Error) => void {
  return (error) => {
    command._clearTimers();
    command.isSettled = true;
    reject(error);
  };
}

function prepare(command: CommandInternals): void {
  if (command.transformed) return;
  command.transformed = true;
  const transform = _transformer.argument[command.name];
  if (transform !== undefined) command.args = transform(command.args);
  command.stringifyArguments();
}
