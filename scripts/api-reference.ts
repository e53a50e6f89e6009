/**
 * Generates the API reference, `docs/api`, from the doc comments: a page for each entry point of a package, with its
 * declarations as the compiler emits them.
 *
 * `npm run docs:api` writes it. With `--check` it writes nothing, and reports what differs. It reads built packages:
 * `npm run check:types` builds them.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { type EntryPoint, type Item, Reference } from "./api/Reference.ts"
import { anchorsOf } from "./Documents.ts"
import { type Package, publishable, root } from "./workspace.ts"

const FOLDER = join(root, "docs/api")

/** The order of the pages: most used first. Other packages follow. */
const FIRST = [
  "billwright",
  "@billwright/core",
  "@billwright/postgres",
  "@billwright/http",
  "@billwright/testing",
]

/** Packages in which every public name must have a doc comment. */
const DOCUMENTED = /^billwright\b/

interface Page {
  /** The name to import: `billwright/postgres`. */
  readonly specifier: string
  readonly file: string
  readonly text: string
  readonly summary: string
  /** Names without a doc comment. */
  readonly undocumented: ReadonlyArray<string>
}

const rank = ({ manifest }: Package): number => {
  const index = FIRST.indexOf(manifest.name)
  return index === -1 ? FIRST.length : index
}

const entryPoints = ({ directory, manifest }: Package) =>
  Object.entries(manifest.exports ?? {}).flatMap(([path, target]) =>
    typeof target === "string" && target.startsWith("./src/")
      ? [
          {
            specifier: `${manifest.name}${path.slice(1)}`,
            path: join(directory, target.replace("./src/", "dist/").replace(/\.ts$/, ".d.ts")),
          },
        ]
      : [],
  )

/** A heading in a comment would become a heading of the page. */
const prose = (comment: string): string => comment.replaceAll(/^#+ (.*)$/gm, "**$1**")

const sourceOf = ({ path }: Item): string =>
  relative(FOLDER, path)
    .replace("/dist/", "/src/")
    .replace(/\.d\.ts$/, ".ts")

/** Longer declarations are inferred types, which readers don't need in full. */
const MAX_LINES = 100
/** The most characters that are shown of the first line of a longer declaration. */
const MAX_FIRST_LINE = 100

const shortened = (code: string): string => {
  const lines = code.split("\n")
  if (lines.length <= MAX_LINES) return code
  // Not all of the first line: the compiler lists the members of a union in an order that depends on what it read first.
  const first = lines[0]!
  const beginning = first.length > MAX_FIRST_LINE ? `${first.slice(0, MAX_FIRST_LINE)}…` : first
  return `${beginning}\n  // … and ${lines.length - 1} lines more`
}

const itemText = (level: string, item: Item, title = item.name): string =>
  [
    `${level} ${title}`,
    ...(item.comment === "" ? [] : [prose(item.comment)]),
    `\`\`\`ts\n${shortened(item.code)}\n\`\`\``,
    `[source](${sourceOf(item)})`,
  ].join("\n\n")

/** Anchors are computed from the page itself, as GitHub does. */
const withContents = (text: string): string => {
  const headings = [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^## (.*)$/gm)].map(
    ([, name = ""]) => name,
  )
  const all = anchorsOf(text)
  const links = headings.map((name) => `[${name}](#${all.get(name) ?? ""})`)
  return text.replace("CONTENTS", links.join(" · "))
}

const pageOf = (specifier: string, { comment, foreign, items, namespaces }: EntryPoint): string => {
  const sections = [
    ...items.map((item) => itemText("##", item)),
    ...namespaces.flatMap(({ comment, items, name }) => [
      [`## ${name}`, ...(comment === "" ? [] : [prose(comment)])].join("\n\n"),
      ...items.map((item) => itemText("###", item, `${name}.${item.name}`)),
    ]),
  ]
  const others = foreign.map(({ name, source }) => `\`${name}\` is that of \`${source}\`.`)
  return withContents(
    `${[
      `# ${specifier}`,
      "<!-- Made by `npm run docs:api` from the doc comments. -->",
      prose(comment),
      "CONTENTS",
      ...sections,
      ...others,
    ].join("\n\n")}\n`,
  )
}

const pages = (): ReadonlyArray<Page> => {
  const reference = new Reference()
  return publishable()
    .toSorted((one, other) => rank(one) - rank(other))
    .flatMap(entryPoints)
    .map(({ path, specifier }) => {
      const entryPoint = reference.entryPoint(path)
      const file = `${specifier.replace("@billwright/", "").replaceAll("/", "-")}.md`
      const summary = entryPoint.comment.split("\n\n")[0]?.replaceAll("\n", " ") ?? ""
      const undocumented = entryPoint.items.filter(({ comment }) => comment === "").map(({ name }) => name)
      return { specifier, file, summary, undocumented, text: pageOf(specifier, entryPoint) }
    })
}

const index = (all: ReadonlyArray<Page>): string =>
  [
    "# API reference",
    "<!-- Made by `npm run docs:api` from the doc comments. -->",
    "Every public name of every entry point, with its declaration and its doc comment: units, limits, errors, guarantees. What the words mean is in [concepts.md](../concepts.md); the operations of the REST API are at `/docs` of any server.",
    `| import | is |\n| --- | --- |\n${all.map(({ file, specifier, summary }) => `| [\`${specifier}\`](${file}) | ${summary} |`).join("\n")}`,
    "",
  ].join("\n\n")

const missing = (all: ReadonlyArray<Page>): ReadonlyArray<string> =>
  all
    .filter(({ specifier }) => DOCUMENTED.test(specifier))
    .flatMap(({ specifier, undocumented }) => undocumented.map((name) => `${name} of ${specifier}`))

const isWritten = (file: string, text: string): boolean => {
  try {
    return readFileSync(join(FOLDER, file), "utf8") === text
  } catch {
    return false
  }
}

/** The problems with the written pages, as sentences. */
const check = (files: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const stale = [...files].flatMap(([file, text]) => (isWritten(file, text) ? [] : [file]))
  const extra = readdirSync(FOLDER).filter((file) => !files.has(file))
  const differing = [...stale, ...extra]
  return differing.length === 0
    ? []
    : [`docs/api differs from the sources in these pages (run "npm run docs:api"): ${differing.join(", ")}`]
}

const write = (files: ReadonlyMap<string, string>): void => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  for (const [file, text] of files) writeFileSync(join(FOLDER, file), text)
}

const all = pages()
const files = new Map([["README.md", index(all)], ...all.map(({ file, text }) => [file, text] as const)])
const isCheck = process.argv.includes("--check")
if (!isCheck) write(files)
const undocumented = missing(all)
const problems = [
  ...(undocumented.length === 0 ? [] : [`these have no doc comment: ${undocumented.join(", ")}`]),
  ...(isCheck ? check(files) : []),
]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
