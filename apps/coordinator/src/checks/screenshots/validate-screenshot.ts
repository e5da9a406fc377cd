import {
  MAX_SCREENSHOT_BYTES,
  parseEscaped,
  SCREENSHOT_SIZE,
  screenshotReportSchema,
  type Failure,
  type ScreenshotLimit,
  type ScreenshotReport,
} from '@vantage/contract';

import { dispatchFailure } from '../store/synthetic-results.ts';
import { compiledAtFirstUse } from '../../create-ajv.ts';

/** An entry about a screenshot: the image, or why there is none. `valid` is false if it is neither. */
export type AcceptedScreenshot =
  | {
      readonly png: Buffer;
      readonly cutAt?: ScreenshotLimit[];
      readonly failure?: undefined;
      readonly valid: true;
    }
  | { readonly png?: undefined; readonly cutAt?: undefined; readonly failure: Failure; readonly valid: boolean };

export type AcceptScreenshot = (data: string, png: Buffer | undefined) => AcceptedScreenshot;

/** Maximum length of a report about a screenshot; a longer one is not parsed. */
const MAX_REPORT_LENGTH = 16 * 1024;

const reportValidator = compiledAtFirstUse<ScreenshotReport>(screenshotReportSchema);

export function createAcceptScreenshot(): AcceptScreenshot {
  return (data, png) => {
    const report = data.length > MAX_REPORT_LENGTH ? undefined : parse(data);
    const isReport = reportValidator();
    if (!isReport(report)) return invalid('What the probe reported of the screenshot cannot be read.');
    if (report.failure !== null) return { failure: report.failure, valid: true };
    const fault = png === undefined ? 'is missing' : faultOf(png);
    if (fault === undefined) return { png: png!, valid: true, ...(report.cutAt && { cutAt: report.cutAt }) };
    return invalid(`The screenshot that the probe sent ${fault}.`);
  };
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Chunk IHDR (PNG third edition, section 11.2.1): length and type; width and height follow. */
const HEAD = Buffer.from([0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
/** Chunk IEND (PNG third edition, section 11.2.4), which is empty: length, type, checksum. */
const TAIL = Buffer.from([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]);

/** Checks the size, start, end and dimensions of a PNG without decoding it. Returns what is wrong, or undefined. */
function faultOf(png: Buffer): string | undefined {
  if (png.length > MAX_SCREENSHOT_BYTES) return `is larger than ${MAX_SCREENSHOT_BYTES} bytes`;
  const isPng =
    png.subarray(0, 8).equals(SIGNATURE) && png.subarray(8, 16).equals(HEAD) && png.subarray(-12).equals(TAIL);
  if (!isPng || png.length < 64) return 'is no PNG';
  const { width, height } = SCREENSHOT_SIZE;
  if (png.readUInt32BE(16) !== width || png.readUInt32BE(20) !== height) return `is not of ${width}×${height} pixels`;
  return undefined;
}

function invalid(message: string): AcceptedScreenshot {
  return { failure: dispatchFailure('invalid_result', message), valid: false };
}

function parse(data: string): unknown {
  try {
    return parseEscaped(data);
  } catch {
    return undefined;
  }
}
