/**
 * The types of a bundled package. If a declaration imports one of our packages that is in the bundle, that package's
 * declarations are copied, and the import is changed to the copy. The package itself is not installed.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { type Package, publishable } from "./workspace.ts"

const IMPORT = /((?:from|import)\s*\(?\s*["'])([^"']+)(["'])/g
/** Imports in the examples of comments are included. */
const COMMENT = /\/\*[^]*?\*\//g

/** Our package in a specifier such as `@billwright/engine/rating`, and the declaration of that entry point. */
const entryOf = (specifier: string, packages: ReadonlyArray<Package>) => {
  const owner = packages.find(
    ({ manifest: { name } }) => specifier === name || specifier.startsWith(`${name}/`),
  )
  if (owner === undefined) return undefined
  const path = `.${specifier.slice(owner.manifest.name.length)}`
  const published = owner.manifest.publishConfig?.["exports"] as
    | Readonly<Record<string, { readonly types?: string }>>
    | undefined
  const types = published?.[path]?.types
  return types === undefined ? undefined : { owner, types }
}

/** The declarations that a declaration imports within its package, and itself. */
const closure = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, , specifier] of readFileSync(file, "utf8").replaceAll(COMMENT, "").matchAll(IMPORT)) {
    if (specifier!.startsWith("."))
      closure(join(dirname(file), specifier!.replace(/\.[jt]s$/, ".d.ts")), seen)
  }
  return seen
}

/** Changes the text outside of comments. */
const outsideComments = (source: string, change: (code: string) => string): string => {
  let rewritten = ""
  let end = 0
  for (const { 0: comment, index } of source.matchAll(COMMENT)) {
    rewritten += change(source.slice(end, index)) + comment
    end = index + comment.length
  }
  return rewritten + change(source.slice(end))
}

/**
 * Copies the declarations of bundled packages that `entries` need, and changes their imports to the copies. `folder`
 * is the staged `dist` of `target`.
 */
export const bringDeclarations = (
  target: Package,
  folder: string,
  entries: ReadonlyArray<string>,
  external: ReadonlyArray<string>,
): void => {
  const packages = publishable().filter(
    ({ manifest: { name } }) => name !== target.manifest.name && !external.includes(name),
  )
  const lead = (path: string) => (whole: string, before: string, specifier: string, after: string) => {
    const entry = entryOf(specifier, packages)
    if (entry === undefined) return whole
    const { owner, types } = entry
    const home = join(folder, "packages", owner.manifest.name.replace(/^@[^/]+\//, ""))
    const dist = join(owner.directory, "dist")
    for (const declaration of closure(join(owner.directory, types))) {
      const copy = join(home, relative(dist, declaration))
      if (!existsSync(copy)) cpSync(declaration, copy)
    }
    const way = relative(dirname(path), join(home, relative(dist, join(owner.directory, types))))
    return `${before}${way.startsWith(".") ? way : `./${way}`}${after}`.replace(/\.d\.ts(["'])$/, ".js$1")
  }
  for (const path of new Set(entries.flatMap((entry) => [...closure(entry)]))) {
    const source = readFileSync(path, "utf8")
    const rewritten = outsideComments(source, (code) => code.replace(IMPORT, lead(path)))
    if (rewritten !== source) writeFileSync(path, rewritten)
  }
}
