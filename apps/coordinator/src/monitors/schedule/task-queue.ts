/** Tasks that this coordinator has claimed. A slow receiver delays its own tasks, not those of other receivers. */
export interface TaskQueue<Task> {
  /** @returns false if too many wait already: the task is not kept */
  readonly add: (receiver: string, task: Task) => boolean;
  readonly waiting: () => readonly Task[];
  /** Starts no more tasks. Resolves when the running ones have ended. */
  readonly stop: () => Promise<void>;
}

export interface TaskQueueOptions<Task> {
  /** Never rejects. */
  readonly run: (task: Task) => Promise<void>;
  readonly mostOfReceiver: number;
  readonly most: number;
  /** From this number of waiting tasks on, a receiver that has waiting tasks gets no further ones. */
  readonly mostWaiting: number;
}

export function createTaskQueue<Task>(options: TaskQueueOptions<Task>): TaskQueue<Task> {
  const { run, mostOfReceiver, most, mostWaiting } = options;
  /** In the order of their turns; those without a task are removed. */
  const receivers = new Map<string, { readonly tasks: Task[]; running: number }>();
  const running = new Set<Promise<void>>();
  let [waiting, isStopped] = [0, false];

  const startNext = (): boolean => {
    if (isStopped || running.size >= most) return false;
    const turn = [...receivers].find(([, one]) => one.tasks.length > 0 && one.running < mostOfReceiver);
    if (turn === undefined) return false;
    const [name, receiver] = turn;
    receivers.delete(name);
    receivers.set(name, receiver);
    receiver.running += 1;
    waiting -= 1;
    const end = run(receiver.tasks.shift()!).then(() => {
      running.delete(end);
      receiver.running -= 1;
      if (receiver.running === 0 && receiver.tasks.length === 0) receivers.delete(name);
      startAll();
    });
    running.add(end);
    return true;
  };
  const startAll = (): void => {
    while (startNext());
  };
  return {
    add: (name, task) => {
      const receiver = receivers.get(name) ?? { tasks: [], running: 0 };
      if (waiting >= mostWaiting && receiver.tasks.length > 0) return false;
      receivers.set(name, receiver);
      receiver.tasks.push(task);
      waiting += 1;
      startAll();
      return true;
    },
    waiting: () => [...receivers.values()].flatMap(({ tasks }) => tasks),
    stop: async () => {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
