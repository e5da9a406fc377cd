import type { Modules } from '../modules/follow-modules.ts';
import type { CoordinatorMetrics } from './observe-core.ts';

export function watchModules({ instruments, onScrape }: CoordinatorMetrics, modules: Modules): void {
  onScrape(() => {
    const { usable, refused } = modules.current();
    instruments.modulesLoaded.set(modules.fault() === undefined ? 1 : 0);
    instruments.modulesLoadedAt.set(modules.loadedAt() / 1_000);
    instruments.modules.set({ state: 'usable' }, usable.size);
    instruments.modules.set({ state: 'refused' }, refused.size);
  });
}
