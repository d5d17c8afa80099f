// node --import register.ts out/node/main.js: the built main process, unmodified, with "electron" answered by the double.
import { registerHooks } from 'node:module';

const double = new URL('./electron.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) => (specifier === 'electron' ? { url: double, shortCircuit: true } : next(specifier, context)),
});
