import type { Summary } from '@vantage/contract';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { Icon } from '../parts/icons.tsx';
import { useService } from '../parts/router.tsx';
import { againOf } from './AgainButton.tsx';
import { requestOf, restrictionOf, sentBy } from './request.ts';
import { asBadge, asCurl, asEmbed, asMarkdown, type Rows } from './copies.ts';
import type { CheckData } from './use-check.ts';

/** Copies the check to the clipboard in several formats. */
export function CopyBar(props: {
  readonly check: CheckData;
  readonly summary: Summary | undefined;
  /** All rows, in the order of the view. */
  readonly rows: () => Rows;
}): JSX.Element {
  const { check, summary, rows } = props;
  const { publicUrl, path } = useService();
  const [copied, setCopied] = useState<readonly [string, boolean]>();
  const forms: readonly (readonly [string, string, () => string])[] = [
    ['Link', 'Copy the link to this check', () => `${publicUrl}/c/${check.testId}${location.search}`],
    ['curl', 'Copy as curl', () => asCurl(check, publicUrl, repeatingBody(check))],
    ['JSON', 'Copy as JSON', () => JSON.stringify(check, null, 2)],
    ['Markdown', 'Copy as Markdown', () => asMarkdown(check, summary, publicUrl, requestOf(check), rows())],
    ['Badge', 'Copy a badge with the verdict, as Markdown', () => asBadge(check.testId, publicUrl)],
    ['Embed', 'Copy an embed of the results, as HTML', () => asEmbed(check.testId, publicUrl)],
  ];
  const copy = async (name: string, text: string): Promise<void> => {
    const isCopied = await writeClipboard(text);
    setCopied([name, isCopied]);
    setTimeout(() => setCopied((now) => (now?.[0] === name ? undefined : now)), 2000);
  };
  return (
    <div class="copies" role="group" aria-label="Copy and share">
      {forms.map(([name, title, text]) => (
        <button key={name} type="button" class="quiet" aria-label={title} onClick={() => void copy(name, text())}>
          <Icon name={copied?.[0] === name && copied[1] ? 'check' : name === 'Link' ? 'link' : 'copy'} />
          {name}
        </button>
      ))}
      <a class="quiet" href={path(`/check/${check.testId}/results`)}>
        Raw
      </a>
      <span class={copied?.[1] === false ? 'note' : 'unseen'} role="status">
        {copied === undefined ? '' : copied[1] ? `${copied[0]} copied.` : 'The browser does not allow copying.'}
      </span>
    </div>
  );
}

/** Body that repeats the check, if all of its request is known here. */
function repeatingBody(check: CheckData): unknown {
  return sentBy(check) ?? (restrictionOf(check) === undefined ? againOf(check) : undefined);
}

async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return writeByHand(text);
  }
}

/** Copies a text without the clipboard API, for pages that may not use it; false if the browser refuses. */
function writeByHand(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}
