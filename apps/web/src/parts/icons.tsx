import type { JSX } from 'preact';

/** 16 × 16 outlines in the colour of the text. */
const shapes = {
  arrow: 'M3 8h10M9 4l4 4-4 4',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  chevron: 'M5 6.5l3 3 3-3',
  copy: 'M6 6V3.5h6.5V10H10M3.5 6H10v6.5H3.5z',
  cross: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  dark: 'M13 9.5A5.5 5.5 0 016.5 3a5.5 5.5 0 106.5 6.5z',
  key: 'M9.8 2.5a3.7 3.7 0 11-2.6 6.3L2.5 13.5V11.5h2V9.6h1.9l.7-.7a3.7 3.7 0 012.7-6.4zM10.8 5.2v.01',
  light:
    'M8 5.2a2.8 2.8 0 100 5.6 2.8 2.8 0 000-5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  link: 'M7 9a2.5 2.5 0 003.6.2l1.9-1.9a2.5 2.5 0 00-3.6-3.6L8 4.6M9 7a2.5 2.5 0 00-3.6-.2L3.5 8.7a2.5 2.5 0 003.6 3.6l.9-.9',
  repeat:
    'M3.5 7.5V7a2.5 2.5 0 012.5-2.5h6M9.8 2.2L12 4.5 9.8 6.8M12.5 8.5V9a2.5 2.5 0 01-2.5 2.5H4M6.2 9.2L4 11.5l2.2 2.3',
  system: 'M2.5 3h11v7.5h-11zM6 13.5h4',
  up: 'M8 13V3M4 7l4-4 4 4',
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}

export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8.5" />
      <path d="M7.5 9.5L16 24l8.5-14.5" />
      <circle cx="16" cy="10" r="3" />
    </svg>
  );
}
