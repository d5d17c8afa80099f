// All adapters by their names in a task.
import type { Adapter } from './adapter.ts';
import { exitCode } from './exit-code.ts';
import { harbor } from './harbor.ts';
import { jsonSchema } from './json-schema.ts';
import { junit } from './junit.ts';
import { nodeTest } from './node-test.ts';
import { pytest } from './pytest.ts';
import { sweBench } from './swe-bench.ts';
import { textCount } from './text-count.ts';

export { isReportPath } from './report-path.ts';

export const adapters: readonly Adapter[] = [junit, pytest, nodeTest, sweBench, harbor, jsonSchema, textCount, exitCode];

/** undefined where there is none of that name. */
export const adapterNamed = (name: string): Adapter | undefined => adapters.find((adapter) => adapter.name === name);
