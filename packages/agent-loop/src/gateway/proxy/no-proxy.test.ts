import { expect, it } from '@jest/globals';

import { isExcepted, unreadableException } from './no-proxy.ts';

it.each([
  ['h.example.com', 'h.example.com'],
  ['h.example.com', 'example.com'],
  ['h.example.com', '.example.com'],
  ['h.example.com', '*.example.com'],
  ['h.example.com', 'localhost, H.Example.com.'],
  ['h.example.com', 'localhost h.example.com'],
  ['h.example.com.', 'h.example.com'],
  ['h.example.com', 'h.*.com'],
  ['h.example.com', 'h.example.com:443'],
  ['h.example.com:8443', 'h.example.com:8443'],
  ['xn--bcher-kva.example', 'bücher.example'],
  ['h.example.com', '*'],
  ['10.1.2.3', '10.1.2.3'],
  ['10.1.2.3', '10.0.0.0/8'],
  ['10.1.2.3', '10.1.2.1-10.1.2.9'],
  ['10.1.2.3', '10.*'],
  ['[fd00::1]', 'fd00:0::1'],
  ['[fd00::1]', '[fd00::1]'],
  ['[fd00::1]:8443', '[fd00::1]:8443'],
  ['[fd00::1]', 'fd00::/8'],
])('%s is reached without the proxy with NO_PROXY=%s', (host, list) => {
  expect(isExcepted(new URL(`https://${host}/`), list)).toBe(true);
});

it.each([
  ['h.example.com', ''],
  ['h.example.com', ' , '],
  ['h.example.com', 'other.example.com'],
  ['badexample.com', 'example.com'],
  ['example.com', 'h.example.com'],
  ['hxexample.com', 'h.example.com'],
  ['h.example.com', 'h.example.com:8443'],
  ['h.example.com:8443', 'h.example.com:443'],
  ['h.example.com', '10.0.0.0/8'],
  ['11.1.2.3', '10.0.0.0/8'],
  ['10.1.2.10', '10.1.2.1-10.1.2.9'],
  ['[fe80::1]', 'fd00::/8'],
  ['10.1.2.3', 'fd00::/8'],
])('%s is reached through the proxy with NO_PROXY=%s', (host, list) => {
  expect(isExcepted(new URL(`https://${host}/`), list)).toBe(false);
});

it.each([
  ['localhost,169.254/16', '169.254/16'],
  ['10.0.0.0/33', '10.0.0.0/33'],
  ['https://h.example.com/', 'https://h.example.com/'],
  ['localhost,.svc,10.0.0.0/8,fd00::/8,my-host.example.com', undefined],
])('in NO_PROXY=%s the unreadable entry is %s', (list, entry) => {
  expect(unreadableException(list)).toBe(entry);
});
