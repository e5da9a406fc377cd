import { readFile } from 'node:fs/promises';

import {
  DEFAULT_MODULES,
  type ModuleFault,
  type PlannedModules,
  type PlanSources,
  type ModuleRefusal,
} from '@vantage/modules';
import type { Logger } from 'pino';

import { parseWithFiles } from './named-files.ts';

/** The modules of `GET /probe`, reloaded when their file changes. */
export interface Modules {
  readonly current: () => PlannedModules;
  /** Why the current file is not in use; undefined if it is. */
  readonly fault: () => string | undefined;
  /** When modules were last loaded, milliseconds since the epoch. */
  readonly loadedAt: () => number;
  readonly close: () => void;
}

/**
 * Polling interval. Contents are compared, because a file may be replaced by a link to another one and notifications
 * can be lost.
 */
const POLL_INTERVAL_MS = 2_000;

export interface FollowOptions {
  readonly pollIntervalMs?: number;
  /** Why the target policy refuses to ask about a name. */
  readonly questionFault?: PlanSources['questionFault'];
}

/**
 * Loads the modules and reloads them when their file, or a file that a module names, changes. An unreadable or invalid
 * file changes nothing; a module that names an unreadable file is refused until the file is readable.
 *
 * @param path undefined: the default modules
 * @throws Error with every fault if the file is invalid at the start, or why it cannot be read
 */
export async function followModules(
  path: string | undefined,
  log: Logger,
  { pollIntervalMs = POLL_INTERVAL_MS, questionFault }: FollowOptions = {},
): Promise<Modules> {
  let seen = path === undefined ? DEFAULT_MODULES : await readFile(path, 'utf8').catch(rejectFile(path));
  let parsed = parseWithFiles(seen, questionFault);
  const { parsing: first } = parsed;
  if (!first.ok) throw new Error(`MODULES_FILE: ${faultText(path, first.faults)}`);
  let current: PlannedModules = first;
  let loadedAt = Date.now();
  let fault: string | undefined;
  report(log, path, current);

  const reject = (reason: string): void => {
    if (fault !== reason)
      log.error({ file: path, fault: reason }, 'modules not reloaded: the last good ones stay in use');
    fault = reason;
  };
  const poll = async (file: string): Promise<void> => {
    const text = await readFile(file, 'utf8').catch((error: unknown) => reject(String(error)));
    if (text === undefined || (text === seen && fault === undefined && !parsed.hasChangedFiles())) return;
    seen = text;
    const next = parseWithFiles(text, questionFault);
    const { parsing } = next;
    if (!parsing.ok) return reject(faultText(file, parsing.faults));
    parsed = next;
    current = parsing;
    loadedAt = Date.now();
    fault = undefined;
    report(log, file, current);
  };
  let polling = false;
  const timer = setInterval(() => {
    if (path === undefined || polling) return;
    polling = true;
    void poll(path).finally(() => (polling = false));
  }, pollIntervalMs);
  timer.unref();
  return {
    current: () => current,
    fault: () => fault,
    loadedAt: () => loadedAt,
    close: () => clearInterval(timer),
  };
}

function report(log: Logger, path: string | undefined, { usable, refused, warnings }: PlannedModules): void {
  log.info({ file: path ?? null, modules: [...usable.keys()] }, 'modules loaded');
  for (const refusal of [...refused.values()].flat()) log.warn({ file: path, ...refusal }, refusalText(refusal));
  for (const warning of warnings) log.warn({ file: path, ...warning }, warningText(warning));
}

/** The reason with module, line and option. */
export function refusalText({ module, line, option, reason }: ModuleRefusal): string {
  return `module "${module}" cannot be run: line ${line}: ${option}: ${withoutStop(reason)}`;
}

/** Like `refusalText`, for a module that is loaded but whose scrapes the target policy refuses. */
export function warningText({ module, line, option, reason }: ModuleRefusal): string {
  return `scrapes of module "${module}" will be refused: line ${line}: ${option}: ${withoutStop(reason)}`;
}

/** Removes the final period: some reasons are sentences of a check type or of the target policy. */
function withoutStop(reason: string): string {
  return reason.replace(/\.$/, '');
}

function rejectFile(path: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`MODULES_FILE: ${path}: ${Error.isError(error) ? error.message : String(error)}`, { cause: error });
  };
}

function faultText(path: string | undefined, faults: readonly ModuleFault[]): string {
  return faults.map(({ line, message }) => `${path} line ${line}: ${message}`).join('; ');
}

/** Faults of modules, as warnings for the operator. */
export function moduleWarnings({ current, fault }: Pick<Modules, 'current' | 'fault'>): readonly string[] {
  const reason = fault();
  const refusals = [...current().refused.values()].flat();
  return [
    ...(reason === undefined ? [] : [`MODULES_FILE was not taken, and the last good one is in use: ${reason}.`]),
    ...refusals.map((refusal) => `MODULES_FILE: ${refusalText(refusal)}.`),
    ...current().warnings.map((warning) => `MODULES_FILE: ${warningText(warning)}.`),
  ];
}
