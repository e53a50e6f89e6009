/**
 * Removes everything that a build or a test run creates.
 */
import { globSync, rmSync } from "node:fs"
import { join } from "node:path"
import { root } from "./workspace.ts"

const LEFTOVERS = [
  "{packages,examples}/*/dist",
  "packages/*/.package",
  "{examples,bench,scripts,simulation}/dist",
  "coverage",
]

for (const path of LEFTOVERS.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
  rmSync(join(root, path), { recursive: true })
}
