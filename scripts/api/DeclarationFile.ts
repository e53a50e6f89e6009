/**
 * A declaration file (`dist/*.d.ts`): its declarations, and its exports with their sources.
 */
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseSync } from "oxc-parser"

/** A node of the syntax tree, with the fields that are read. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [property: string]: unknown
}

/** A declared name. It has several declarations when it is overloaded, or is both a type and a value. */
export interface Declaration {
  readonly name: string
  /** The first comment among its declarations, without the stars. */
  readonly comment: string
  /** The declarations as text, without `export` and `declare`. */
  readonly texts: ReadonlyArray<string>
  /** The names that occur in it. */
  readonly names: ReadonlySet<string>
}

/** A name in an `export` of a file. */
export type Export =
  | { readonly kind: "own"; readonly name: string; readonly exported: string }
  | { readonly kind: "from"; readonly source: string; readonly name: string; readonly exported: string }
  | { readonly kind: "all"; readonly source: string }
  | { readonly kind: "namespace"; readonly source: string; readonly exported: string }

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string"

const nameOf = (value: unknown): string => (value as { readonly name: string }).name

/** The names that occur below a node. */
const namesIn = (node: Node): ReadonlyArray<string> =>
  Object.values(node).flatMap((value) => {
    const children = (Array.isArray(value) ? value : [value]).filter(isNode)
    return children.flatMap((child) => [
      ...(child.type === "Identifier" ? [nameOf(child)] : []),
      ...namesIn(child),
    ])
  })

/** The text of a doc comment. */
const textOf = (comment: string): string =>
  comment
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd())
    .join("\n")
    .trim()

/** Formats a declaration with two spaces and no semicolons. Lines of comments stay as they are. */
const tidy = (source: string): string =>
  source
    .replace(/^(export )?(default )?(declare )?/, "")
    .split("\n")
    .map((line) => line.replace(/^(?: {4})+/, (indent) => indent.slice(indent.length / 2)))
    .map((line) => (/^\s*(\/?\*|\/\/)/.test(line) ? line : line.replace(/;$/, "")))
    .join("\n")

/** The declared names. A `const` may have several. */
const declaredBy = (node: Node): ReadonlyArray<string> =>
  node.type === "VariableDeclaration"
    ? (node["declarations"] as ReadonlyArray<Node>).map(({ id }) => nameOf(id))
    : isNode(node["id"])
      ? [nameOf(node["id"])]
      : []

const exportsBy = (statement: Node): ReadonlyArray<Export> => {
  const source = (statement["source"] as { readonly value: string } | null | undefined)?.value
  if (statement.type === "ExportAllDeclaration" && source !== undefined) {
    const { exported } = statement
    return [
      isNode(exported) ? { kind: "namespace", source, exported: nameOf(exported) } : { kind: "all", source },
    ]
  }
  if (statement.type !== "ExportNamedDeclaration") return []
  const { declaration, specifiers } = statement
  if (isNode(declaration)) {
    return declaredBy(declaration).map((name) => ({ kind: "own", name, exported: name }))
  }
  return (specifiers as ReadonlyArray<{ readonly local: unknown; readonly exported: unknown }>).map(
    (each) => {
      const names = { name: nameOf(each.local), exported: nameOf(each.exported) }
      return source === undefined ? { kind: "own", ...names } : { kind: "from", source, ...names }
    },
  )
}

export class DeclarationFile {
  readonly path: string
  /** The comment at the start of the file. */
  readonly comment: string
  readonly exports: ReadonlyArray<Export>
  readonly declarations: ReadonlyMap<string, Declaration>
  /** The source of each imported name. */
  readonly imports: ReadonlyMap<string, { readonly source: string; readonly name: string }>

  constructor(path: string) {
    const text = readFileSync(path, "utf8")
    const { comments, errors, program } = parseSync(path, text)
    if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
    const statements = program.body as unknown as ReadonlyArray<Node>

    const commentBefore = (start: number): string => {
      const before = comments.findLast(({ end }) => end <= start)
      const isDoc = before?.value.startsWith("*") === true && text.slice(before.end, start).trim() === ""
      return isDoc ? textOf(before.value) : ""
    }
    const imports = statements.filter(({ type }) => type === "ImportDeclaration")
    const declarations = new Map<string, Declaration>()
    for (const statement of statements) {
      const declared = isNode(statement["declaration"]) ? statement["declaration"] : statement
      const comment = commentBefore(statement.start)
      for (const name of statement.type === "ImportDeclaration" ? [] : declaredBy(declared)) {
        const known = declarations.get(name)
        declarations.set(name, {
          name,
          comment: known === undefined || known.comment === "" ? comment : known.comment,
          texts: [...(known?.texts ?? []), tidy(text.slice(statement.start, statement.end))],
          names: new Set([...(known?.names ?? []), ...namesIn(declared)]),
        })
      }
    }

    this.path = path
    this.comment = headerOf(path)
    this.exports = statements.flatMap(exportsBy)
    this.declarations = declarations
    this.imports = new Map(
      imports.flatMap(({ source, specifiers }) =>
        (specifiers as ReadonlyArray<{ readonly local: unknown; readonly imported?: unknown }>).map(
          ({ imported, local }) =>
            [
              nameOf(local),
              { source: nameOfSource(source), name: isNode(imported) ? nameOf(imported) : "*" },
            ] as const,
        ),
      ),
    )
  }

  /** The file of a relative import; `undefined` for the import of another package. */
  resolve(source: string): string | undefined {
    return source.startsWith(".") ? join(dirname(this.path), source.replace(/\.ts$/, ".d.ts")) : undefined
  }
}

const nameOfSource = (source: unknown): string => (source as { readonly value: string }).value

/**
 * The comment at the start of a module, read from its source: the compiler drops it together with an unused import
 * below.
 */
const headerOf = (path: string): string => {
  const source = readFileSync(path.replace("/dist/", "/src/").replace(/\.d\.ts$/, ".ts"), "utf8")
  // A comment right before a declaration belongs to that.
  const [, comment = ""] = /^\/\*(\*[\s\S]*?)\*\/\n(?:import|export (?:type )?[*{])/.exec(source) ?? []
  return textOf(comment)
}
