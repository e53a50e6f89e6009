/**
 * Makes the published code import Effect module by module.
 *
 * `import { Effect } from "effect"` is the usual form, and loads all of Effect: a fifth of the cold start of a
 * program with layers, and 10 MB. `import * as Effect from "effect/Effect"` loads only that module.
 *
 * As a program: `node scripts/direct-imports.ts <directory>…` rewrites the modules in the directories.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const IMPORT = /^import \{([^}]*)\} from "(effect(?:\/[a-z-]+)?)";$/gm
/** The name of a module is a noun in capitals. Other exports of the entry point, such as `pipe`, keep their import. */
const MODULE = /^([A-Z]\w*)(?: as (\w+))?$/

/** A compiled module in which the imports of Effect's entry points are replaced. Line numbers stay the same. */
export const withDirectImports = (source: string): string =>
  source.replace(IMPORT, (statement, names: string, entryPoint: string) => {
    const listed = names.split(",").map((name) => name.trim())
    const modules = listed.filter((name) => name !== "").map((name) => MODULE.exec(name))
    if (modules.includes(null)) return statement
    return modules
      .map((found) => `import * as ${found![2] ?? found![1]!} from "${entryPoint}/${found![1]!}";`)
      .join(" ")
  })

/** Rewrites all modules in a directory. */
export const rewriteImports = (directory: string): void => {
  for (const file of globSync("**/*.js", { cwd: directory })) {
    const path = join(directory, file)
    const source = readFileSync(path, "utf8")
    const rewritten = withDirectImports(source)
    if (rewritten !== source) writeFileSync(path, rewritten)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  process.argv.slice(2).forEach(rewriteImports)
