// Monaco's translations are scripts that set a global; they come without types.
declare module 'monaco-editor/nls/lang/ko.js';
