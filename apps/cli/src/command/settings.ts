import type { ParsedArguments } from '@vantage/command-line';

import type { CommandSettings } from './command.ts';

export function settingsFrom(values: ParsedArguments['values']): CommandSettings {
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    server: text('server'),
    key: text('key'),
    json: values['json'] === true,
    csv: values['csv'] === true,
    watchSeconds: watchSecondsOf(text('watch')),
    saveScreenshot: text('save-screenshot'),
  };
}

function watchSecondsOf(text: string | undefined): number | undefined {
  const seconds = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
  return seconds >= 5 && seconds <= 86_400 ? seconds : undefined;
}
