import { assert, describe, it } from "vitest"
import { withDirectImports } from "./direct-imports.ts"

describe("withDirectImports", () => {
  const cases: ReadonlyArray<readonly [written: string, published: string]> = [
    [`import { Effect } from "effect";`, `import * as Effect from "effect/Effect";`],
    [
      `import { Effect, Schema as S } from "effect";\nexport const a = 1;`,
      `import * as Effect from "effect/Effect"; import * as S from "effect/Schema";\nexport const a = 1;`,
    ],
    [`import { SqlClient } from "effect/sql";`, `import * as SqlClient from "effect/sql/SqlClient";`],
    [
      `import { Clock, Effect, } from "effect";`,
      `import * as Clock from "effect/Clock"; import * as Effect from "effect/Effect";`,
    ],
    [`import { pipe, Effect } from "effect";`, `import { pipe, Effect } from "effect";`],
    [`import { Effect } from "effect/Effect";`, `import { Effect } from "effect/Effect";`],
    [`import { Usage } from "@billwright/core";`, `import { Usage } from "@billwright/core";`],
    [`const text = 'import { Effect } from "effect";'`, `const text = 'import { Effect } from "effect";'`],
  ]
  for (const [written, published] of cases) {
    it(written, () => assert.strictEqual(withDirectImports(written), published))
  }
})
