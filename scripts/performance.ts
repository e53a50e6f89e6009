/**
 * Updates `docs/performance.md` and its charts from the results in `bench/results`: `npm run bench:report`.
 * Hand-written parts stay as they are.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { draw } from "./performance/Charts.ts"
import { render } from "./performance/Report.ts"
import { readResults } from "./performance/Results.ts"

const root = join(import.meta.dirname, "..")
const document = join(root, "docs/performance.md")

const results = readResults()
writeFileSync(document, render(readFileSync(document, "utf8"), results))
for (const [path, content] of draw(results)) writeFileSync(join(root, path), content)
