// Entry of the store's threads. One owns writing, the others read.
import { serveThread } from './thread.ts';

serveThread();
