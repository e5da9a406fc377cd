import { describe, expect, it } from '@jest/globals';

import { checkOfScreenshotJob, screenshotJobId } from './index.ts';

const id = 'qPUXvL1sQx2rGJm0Zf7N4w';

describe('the job id of a screenshot', () => {
  it('leads back to its check', () => {
    expect(checkOfScreenshotJob(screenshotJobId(id))).toBe(id);
  });

  it('is none that a check can have', () => {
    expect(checkOfScreenshotJob(id)).toBeUndefined();
    expect(screenshotJobId(id)).not.toMatch(/^[A-Za-z0-9_-]{22}$/);
  });

  it('can be that of a job in BullMQ, which takes no colon in it', () => {
    expect(screenshotJobId(id)).not.toContain(':');
  });
});
