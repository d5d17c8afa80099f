// How an answer has to look. The texts belong to `promptVersion`: whoever changes a word raises it.
import type { EditFormat } from '../materialise/materialise.ts';

export const editInstructions: Readonly<Record<EditFormat, string>> = {
  files: `Answer with every file that you change, whole, each like this, the tags on lines of their own:

<file path="path/of/the/file">
the complete new content
</file>

To delete a file: <delete path="path/of/the/file"/>
Files that you do not name stay as they are.`,
  diff: `Answer with one unified diff in a fence marked diff, with paths as given (a/ and b/ before them) and lines of context exactly as they are in the file:

\`\`\`diff
--- a/path/of/the/file
+++ b/path/of/the/file
@@ -10,3 +10,3 @@
 a line that stays
-a line that goes
+a line that comes
 a line that stays
\`\`\``,
  'search-replace': `Answer with one or more blocks like this. SEARCH has whole lines exactly as they are in the file, enough of them to be found only once; they are replaced by the lines of REPLACE:

path/of/the/file
<<<<<<< SEARCH
lines as they are
=======
lines as they shall be
>>>>>>> REPLACE

An empty SEARCH makes a new file. To delete a file: <delete path="path/of/the/file"/>`,
  json: `Answer with one JSON object and nothing else. All keys are optional:

{"files": [{"path": "…", "content": "the complete new content"}],
 "edits": [{"path": "…", "search": "text that occurs exactly once", "replace": "…"}],
 "values": [{"path": "a JSON file", "pointer": "/a/JSON/pointer", "value": 1}],
 "delete": ["…"]}`,
};
