// The run screen; see README.md.
export { RunScreen } from './RunScreen.tsx';
