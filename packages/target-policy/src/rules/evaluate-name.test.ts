import { describe, expect, it } from '@jest/globals';

import { evaluateName } from './evaluate-name.ts';
import { createTargetPolicy } from './policy.ts';
import { specialData } from '../addresses/special-data.ts';

const policy = createTargetPolicy();

/** The labels of 2606:4700::5efe:127.0.0.1 in a reversed name. */
const isatap = `1.0.0.0.0.0.f.7.e.f.e.5.${'0.'.repeat(12)}0.0.7.4.6.0.6.2`;

describe('a name to connect to', () => {
  it.each([
    ['an ordinary name', 'www.example.co.uk'],
    ['a special-use name with real addresses', 'example.com'],
    ['a name below it', 'www.example.org'],
    ['a suffix that is itself a host', 'co.uk'],
    ['a private suffix', 'someone.github.io'],
    ['an internationalised suffix', 'xn--e1afmkfd.xn--p1ai'],
    ['a name that contains a special one', 'localhost.example.com'],
    ['a name that ends like a special one', 'notlocalhost.com'],
    ['a special label that is no suffix', 'internal.example.com'],
    ['a name below an exact metadata name', 'docs.metadata.goog'],
  ])('may be %s', (_reason, name) => {
    expect(evaluateName(name, 'connect', policy)).toBeUndefined();
  });

  it.each(specialData.hosts.filter((row) => row.refuse).map((row) => [row.name, row] as const))(
    'may not be %s, nor be below it where the row is a suffix',
    (name, row) => {
      expect(evaluateName(name, 'connect', policy)).toMatchObject({ code: 'name_special' });
      if (row.match === 'suffix') {
        expect(evaluateName(`a.b.${name}`, 'connect', policy)).toMatchObject({ code: 'name_special' });
      }
    },
  );

  it.each([
    ['an unknown suffix', 'printer.fritzbox', 'name_unknown_suffix'],
    ['a suffix that no registry has', 'example.notatld', 'name_unknown_suffix'],
    ['a reversed address', '8.8.8.8.in-addr.arpa', 'name_special'],
    ['the root', '.', 'name_special'],
    ['a metadata name', 'metadata.google.internal', 'name_special'],
  ])('may not be %s', (_reason, name, code) => {
    expect(evaluateName(name, 'connect', policy)).toMatchObject({ code });
  });
});

describe('a name to ask about', () => {
  it.each([
    ['the root', '.'],
    ['a top-level domain', 'com'],
    ['an internationalised top-level domain', 'xn--p1ai'],
    ['an infrastructure domain', 'arpa'],
    ['the IPv4 zone', 'in-addr.arpa'],
    ['the IPv6 zone', 'ip6.arpa'],
    ['a permitted address', '8.8.8.8.in-addr.arpa'],
    ['a permitted network', '8.in-addr.arpa'],
    ['a network with refused parts', '192.in-addr.arpa'],
    ['a permitted IPv6 network', '0.7.4.6.0.6.2.ip6.arpa'],
    ['service labels', '_dmarc.example.com'],
    ['another zone under arpa', 'e164.arpa'],
  ])('may be %s', (_reason, name) => {
    expect(evaluateName(name, 'question', policy)).toBeUndefined();
  });

  it.each([
    ['a private address', '1.0.168.192.in-addr.arpa', 'name_reversed_address'],
    ['a private network', '168.192.in-addr.arpa', 'name_reversed_address'],
    ['all of 10/8', '10.in-addr.arpa', 'name_reversed_address'],
    ['a service in a private network', 'lb._dns-sd._udp.0.0.0.10.in-addr.arpa', 'name_reversed_address'],
    ['link-local metadata', '254.169.254.169.in-addr.arpa', 'name_reversed_address'],
    ['unique-local addresses', 'd.f.ip6.arpa', 'name_reversed_address'],
    ['addresses outside 2000::/3', '0.ip6.arpa', 'name_reversed_address'],
    ['documentation', '8.b.d.0.1.0.0.2.ip6.arpa', 'name_reversed_address'],
    ['ISATAP in a global network', `${isatap}.ip6.arpa`, 'name_reversed_address'],
    ['a home network', 'router.home.arpa', 'name_special'],
    ['the discovery of NAT64', 'ipv4only.arpa', 'name_special'],
    ['localhost', 'localhost', 'name_special'],
    ['a private top-level domain', 'internal', 'name_special'],
    ['a metadata name', 'metadata.google.internal', 'name_special'],
    ['a name of the local link', 'printer.local', 'name_special'],
    ['an unknown top-level domain', 'notatld', 'name_unknown_suffix'],
  ])('may not be %s', (_reason, name, code) => {
    expect(evaluateName(name, 'question', policy)).toMatchObject({ code });
  });
});

describe('the operator’s lists of names', () => {
  const own = createTargetPolicy({
    allow: ['192.168.0.0/16'],
    allowNames: ['localhost', 'lan', 'nas.fritzbox'],
    deny: ['example.net', 'secret.lan', '8.8.0.0/16'],
  });

  it.each([
    ['an allowed name', 'localhost', 'connect', undefined],
    ['a name below it', 'a.localhost', 'connect', undefined],
    ['an allowed suffix', 'printer.lan', 'connect', undefined],
    ['an allowed name with an unknown suffix', 'nas.fritzbox', 'connect', undefined],
    ['the suffix of an allowed name', 'fritzbox', 'question', 'name_unknown_suffix'],
    ['a name that is not listed', 'printer.local', 'connect', 'name_special'],
    ['a denied name', 'example.net', 'connect', 'name_denied'],
    ['a name below it', 'www.example.net', 'question', 'name_denied'],
    ['a name that ends alike', 'notexample.net', 'connect', undefined],
    ['a denied name in an allowed suffix', 'secret.lan', 'connect', 'name_denied'],
    ['an address of an allowed network, reversed', '1.0.168.192.in-addr.arpa', 'question', undefined],
    ['a denied address, reversed', '8.8.8.8.in-addr.arpa', 'question', 'name_reversed_address'],
  ] as const)('decide about %s: %s', (_reason, name, use, code) => {
    expect(evaluateName(name, use, own)?.code).toBe(code);
  });
});
