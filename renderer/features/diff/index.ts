// What a candidate changed; see README.md.
export { BlobError, type BlobCache, createBlobCache } from './blobs.ts';
export { decodeText, largestShown } from './content.ts';
export { TransitionDiff, type TransitionDiffProps } from './TransitionDiff.tsx';
