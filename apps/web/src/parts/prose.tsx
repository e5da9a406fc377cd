import { Fragment, type JSX } from 'preact';

/** A sentence of a schema; names in backticks become code elements. */
export function Prose({ text }: { readonly text: string }): JSX.Element {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

/** Words with a hyphen before a digit, such as the names of probes. */
const NAME = /(\S*\w-\d\S*)/;
const LONGEST_NAME = 24;

/** A sentence of the summary. No line ends inside a word such as `fra-1` of at most `LONGEST_NAME` characters. */
export function Sentence({ text }: { readonly text: string }): JSX.Element {
  const isWhole = (part: string, index: number): boolean => index % 2 === 1 && part.length <= LONGEST_NAME;
  return (
    <>
      {text.split(NAME).map((part, index) =>
        isWhole(part, index) ? (
          <span key={index} class="whole">
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </>
  );
}

/** A text that may continue on the next line after a dot, slash or underscore within a word, as in a domain name. */
export function Dotted({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {text.split(/(?<=\w\.|\w[/_])(?=\w)/).map((label, index) => (
        <Fragment key={index}>
          {index === 0 ? null : <wbr />}
          {label}
        </Fragment>
      ))}
    </>
  );
}
