// The steps that a write consists of, as whoever opened the database is told of them.

/** What is about to be done to the file or folder `path`. */
export type FileStep = 'make folder' | 'open' | 'write' | 'sync' | 'rename' | 'sync folder';

export type WriteStep =
  | { readonly kind: 'statement'; readonly text: string }
  | { readonly kind: 'file'; readonly step: FileStep; readonly path: string };

/**
 * Called before every step of every write: each statement, BEGIN and COMMIT included, and each operation on a blob's file. What it throws is
 * what that step fails with. A test throws here what a full disk would, or ends its process.
 */
export type BeforeStep = (step: WriteStep) => void;
