import type { DataFolder } from './data-folder.ts';
import { killGroup } from './kill-group.ts';
import { nodeFlags } from './node-flags.ts';
import { graceMs } from './program-settings.ts';
import type { Reaper } from './reaper.ts';
import { supervise, type Supervised } from './supervised.ts';
import type { RedisProcess } from './supervise-redis.ts';

export interface ProgramsOptions {
  readonly data: DataFolder;
  readonly reaper: Pick<Reaper, 'tell'>;
  /** Address of the service. */
  readonly url: string;
  /** Environment of every program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True to restart a program when its source changes. */
  readonly watch: boolean;
  readonly report: (line: string) => void;
}

type App = keyof typeof nodeFlags;

/**
 * The supervised processes: coordinator, probes, and Redis if it is not the operator's. Each change of them is passed
 * to the reaper and the data folder.
 */
export class Programs {
  readonly all: Supervised[] = [];
  private readonly options: ProgramsOptions;
  private readonly graceMs: number;
  private redis: RedisProcess | null = null;

  constructor(options: ProgramsOptions) {
    this.options = options;
    this.graceMs = graceMs(options.env);
    // Covers all exits except an orderly stop, after which nothing runs, and SIGKILL, which the reaper covers.
    process.once('exit', this.killAll);
    // Writes the URL; there are no processes yet.
    this.note();
  }

  /** To be called before Redis has loaded its data: that can take seconds, in which this process may be killed. */
  readonly setRedis = (redis: RedisProcess | null): void => {
    this.redis = redis;
    this.note();
  };

  start(name: string, app: App, env: Readonly<Record<string, string>>): void {
    const { data, report, watch } = this.options;
    const flags = [...nodeFlags[app], ...process.execArgv];
    const program = {
      name,
      module: entry(app),
      logFile: data.logFile(name),
      env: { ...inherited(this.options.env), ...env },
      execArgv: watch ? ['--watch', '--watch-preserve-output', ...flags] : flags,
    };
    this.all.push(supervise(program, { onChange: this.note, report, graceMs: this.graceMs }));
    this.note();
  }

  /** Stops the probes first, so that the coordinator still receives the results of their last jobs. */
  readonly stop = async (): Promise<void> => {
    await Promise.all(this.all.slice(1).map((probe) => probe.stop()));
    await this.all[0]?.stop();
  };

  private readonly note = (): void => {
    const { data, reaper, url } = this.options;
    reaper.tell({ programs: this.running(), redis: this.redis?.pid ?? null, graceMs: this.graceMs });
    data.write({
      pid: process.pid,
      url,
      redis: this.redis,
      processes: Object.fromEntries(this.all.flatMap(({ name, pid }) => (pid() === undefined ? [] : [[name, pid()!]]))),
    });
  };

  private readonly killAll = (): void => {
    for (const pid of [...this.running(), ...(this.redis === null ? [] : [this.redis.pid])]) killGroup(pid);
  };

  private running(): number[] {
    return this.all.flatMap(({ pid }) => pid() ?? []);
  }
}

/** Programs are started in the same form as this one: sources or built files. */
function entry(app: App): URL {
  const [folder, extension] = import.meta.url.endsWith('.ts') ? ['src', 'ts'] : ['dist', 'js'];
  return new URL(`../../${app}/${folder}/main.${extension}`, import.meta.url);
}

function inherited(env: ProgramsOptions['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}
