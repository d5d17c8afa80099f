// The library of runs; see README.md.
export { LibraryScreen } from './LibraryScreen.tsx';
