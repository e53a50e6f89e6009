/** What every document must have: links that lead somewhere. */
import { existsSync, globSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { anchorsOf, blocks, ownDocuments, read, root, withoutBlocks } from "./Documents.ts"

const documents = globSync(
  "{*.md,docs/**/*.md,{packages,examples}/*/README.md,packages/core/src/*/README.md}",
  {
    cwd: root,
    exclude: ["CHANGELOG.md"],
  },
).toSorted()

/** The targets of a document's links: files in the repository, with anchors. */
const linksOf = (text: string) =>
  [
    ...withoutBlocks(text)
      .replaceAll(/`[^`\n]*`/g, "")
      .matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)|(?:src|srcset)="(?![a-z]+:)([^"]*)"/g),
  ].map(([, file = "", anchor, source]) => ({ file: source ?? file, anchor }))

const anchors = new Map<string, ReadonlySet<string>>()

/** The anchors of a link's target. For a folder, those of its README. */
const anchorsAt = (path: string): ReadonlySet<string> => {
  const isFolder = statSync(join(root, path)).isDirectory()
  const known =
    anchors.get(path) ?? new Set(anchorsOf(read(isFolder ? join(path, "README.md") : path)).values())
  anchors.set(path, known)
  return known
}

const brokenLinks = (path: string): ReadonlyArray<string> =>
  linksOf(read(path)).flatMap(({ anchor, file }) => {
    const target = file === "" ? path : join(dirname(path), decodeURI(file))
    if (!existsSync(join(root, target))) return [`${path} → ${file}`]
    // An anchor that GitHub adds below the files of a folder.
    if (anchor === undefined || anchor === "readme" || anchorsAt(target).has(anchor)) return []
    return [`${path} → ${file}#${anchor}`]
  })

describe("documents", () => {
  it("link only to existing files and anchors", () => {
    assert.isAtLeast(documents.length, 20)
    assert.deepStrictEqual(documents.flatMap(brokenLinks), [])
  })

  it("name only tests that exist, as answers to a security review", () => {
    const named = [
      ...read("docs/security.md").matchAll(/\]\(\.\.\/([^)]+\.test\.ts)\) (“[^”]+”(?:, “[^”]+”)*)/g),
    ].flatMap(([, path = "", titles = ""]) =>
      [...titles.matchAll(/“([^”]+)”/g)].map(([, title = ""]) => ({ path, title })),
    )
    assert.isAtLeast(named.length, 50)
    assert.deepStrictEqual(
      named.filter(({ path, title }) => !read(path).includes(`"${title}"`)),
      [],
    )
  })

  it("can all be reached from the index", () => {
    const named = linksOf(read("docs/README.md")).map(({ file }) => join("docs", file))
    const missing = ownDocuments.filter((path) => path !== "docs/README.md" && path.startsWith("docs/"))
    assert.deepStrictEqual(
      missing.filter((path) => !named.includes(path)),
      [],
    )
  })

  it("show no syntax that the oldest Node can't parse", () => {
    const using = documents.filter((path) =>
      blocks(read(path), "(?:ts|js|diff)").some((code) => /^[+\s]*(await )?using \w/m.test(code)),
    )
    assert.deepStrictEqual(using, [])
  })
})
