export { parse } from './parse.js';
export { write } from './write.js';
