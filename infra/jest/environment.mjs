import vm from 'node:vm';

import NodeEnvironment from 'jest-environment-node';

import { compileOnce, keepBytecode } from './compiled-once.mjs';

compileOnce();

/**
 * The environment of Jest for Node with an ordinary global object. Jest's own is behind interceptors and a proxy, where each
 * look at a global (`Math`, `Buffer`, `undefined`) takes microseconds: minutes of the processor's time over all suites.
 */
export default class OrdinaryGlobals extends NodeEnvironment {
  constructor(...given) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...given);
    } finally {
      vm.createContext = createContext;
    }
  }

  async teardown() {
    keepBytecode();
    await super.teardown();
  }
}
