// Everything that a new run is given; see README.md.
export { NewRunScreen } from './NewRunScreen.tsx';
