// A thread of the store that ends by itself in the middle of a transaction: at the COMMIT of the third bundle that it has written.
import { serveThread } from '#electron/store/thread.ts';

let bundles = 0;
serveThread({
  beforeStep: (step) => {
    if (step.kind !== 'statement') return;
    if (step.text.startsWith('INSERT INTO bundle ')) bundles++;
    // In a thread this ends the thread.
    if (step.text === 'COMMIT' && bundles === 3) process.exit(3);
  },
});
