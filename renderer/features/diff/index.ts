// What a candidate changed; see README.md.
export { TransitionDiff, type TransitionDiffProps } from './TransitionDiff.tsx';
