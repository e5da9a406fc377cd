import { readFileSync, statSync } from 'node:fs';

import { parseModules, type ModulesParsing, type PlanSources } from '@vantage/modules';

/** Maximum size of a file that a module names: certificates and credentials are smaller. */
const MAX_FILE_BYTES = 262_144;

/** `fault`: why there is no text; without the path, which clients must not see. */
type Content =
  | { readonly text: string; readonly fault?: undefined }
  | { readonly text?: undefined; readonly fault: string };

export interface ParsedModules {
  readonly parsing: ModulesParsing;
  /** True if the content of a file that a module names has changed. */
  readonly hasChangedFiles: () => boolean;
}

/**
 * Parses a `blackbox.yml` and the files that its modules name; relative paths are resolved from the working directory.
 */
export function parseWithFiles(text: string, questionFault?: PlanSources['questionFault']): ParsedModules {
  const seen = new Map<string, Content>();
  const readText = (path: string): string => {
    const content = contentOf(path);
    seen.set(path, content);
    if (content.fault !== undefined) throw new Error(content.fault);
    return content.text;
  };
  const parsing = parseModules(text, { readText, ...(questionFault === undefined ? {} : { questionFault }) });
  return {
    parsing,
    hasChangedFiles: () =>
      [...seen].some(([path, before]) => {
        const now = contentOf(path);
        return now.text !== before.text || now.fault !== before.fault;
      }),
  };
}

function contentOf(path: string): Content {
  try {
    const about = statSync(path);
    if (!about.isFile()) return { fault: 'is no file' };
    if (about.size > MAX_FILE_BYTES) return { fault: `has more than ${MAX_FILE_BYTES} bytes` };
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    const code = Error.isError(error) && 'code' in error ? String(error.code) : 'unknown error';
    return { fault: `the file cannot be read (${code})` };
  }
}
