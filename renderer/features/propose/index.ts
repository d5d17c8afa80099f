// Writing a candidate by hand; see README.md.
export { editsOf } from './candidate.ts';
export { TreeEditor } from './TreeEditor.tsx';
