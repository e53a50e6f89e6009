/**
 * The public names of an entry point, found by following its exports.
 */
import { type Declaration, DeclarationFile } from "./DeclarationFile.ts"

/** A name that an entry point exports. */
export interface Item {
  readonly name: string
  readonly comment: string
  /** Its declaration, with the declarations that it refers to and that are not exported. */
  readonly code: string
  /** Its declaration file. */
  readonly path: string
}

/** A namespace: a module that is exported under a name. */
interface Namespace {
  readonly name: string
  readonly comment: string
  readonly items: ReadonlyArray<Item>
}

/** The names that come from another package, where they are documented. */
export interface Foreign {
  readonly name: string
  readonly source: string
}

export interface EntryPoint {
  readonly comment: string
  readonly items: ReadonlyArray<Item>
  readonly namespaces: ReadonlyArray<Namespace>
  readonly foreign: ReadonlyArray<Foreign>
}

/** Values come before the types that describe them. */
const byKind = (one: Item, other: Item): number => Number(isType(one)) - Number(isType(other))
const isType = ({ code }: Item): boolean => !/^(const|function|class|enum) /m.test(code)

export class Reference {
  readonly #files = new Map<string, DeclarationFile>()

  #file(path: string): DeclarationFile {
    const known = this.#files.get(path) ?? new DeclarationFile(path)
    this.#files.set(path, known)
    return known
  }

  /** Reads an entry point. `path` is its declaration file. */
  entryPoint(path: string): EntryPoint {
    const file = this.#file(path)
    const namespaces: Array<Namespace> = []
    const foreign: Array<Foreign> = []
    const items: Array<Item> = []
    const found = new Set<string>()
    const visit = (from: DeclarationFile): void => {
      for (const each of from.exports) {
        if (each.kind === "own") {
          if (!found.has(each.exported)) items.push(...this.#item(from, each.name, each.exported, foreign))
          found.add(each.exported)
          continue
        }
        const target = from.resolve(each.source)
        if (target === undefined) {
          foreign.push({ name: each.kind === "all" ? "*" : each.exported, source: each.source })
        } else if (each.kind === "all") visit(this.#file(target))
        else if (each.kind === "namespace") {
          const { comment, items } = this.entryPoint(target)
          namespaces.push({ name: each.exported, comment, items })
        } else if (!found.has(each.exported)) {
          items.push(...this.#item(this.#file(target), each.name, each.exported, foreign))
          found.add(each.exported)
        }
      }
    }
    visit(file)
    return { comment: file.comment, items: items.toSorted(byKind), namespaces, foreign }
  }

  /** Follows a name to its declaration. */
  #item(file: DeclarationFile, name: string, exported: string, foreign: Array<Foreign>): ReadonlyArray<Item> {
    const declaration = file.declarations.get(name)
    if (declaration !== undefined) {
      const parts = this.#parts(file, declaration)
      const code = parts.flatMap((part) => part.texts).join("\n\n")
      return [{ name: exported, comment: declaration.comment, code, path: file.path }]
    }
    const through = file.exports.find((each) => each.kind === "from" && each.exported === name)
    const origin = through?.kind === "from" ? through : file.imports.get(name)
    const target = origin === undefined ? undefined : file.resolve(origin.source)
    if (origin !== undefined && target !== undefined) {
      return this.#item(this.#file(target), origin.name, exported, foreign)
    }
    for (const each of file.exports) {
      const all = each.kind === "all" ? file.resolve(each.source) : undefined
      const item = all === undefined ? [] : this.#item(this.#file(all), name, exported, foreign)
      if (item.length > 0) return item
    }
    if (origin !== undefined) foreign.push({ name: exported, source: origin.source })
    return []
  }

  /**
   * A declaration and those declarations of its file that it refers to and that are not exported, in the order of the
   * file.
   */
  #parts(file: DeclarationFile, declaration: Declaration): ReadonlyArray<Declaration> {
    const exported = new Set(file.exports.flatMap((each) => (each.kind === "own" ? [each.name] : [])))
    const wanted = new Set([declaration.name])
    const add = ({ names }: Declaration): void => {
      for (const name of names) {
        const part = file.declarations.get(name)
        if (part === undefined || exported.has(name) || wanted.has(name)) continue
        wanted.add(name)
        add(part)
      }
    }
    add(declaration)
    return [...file.declarations.values()].filter(({ name }) => wanted.has(name))
  }
}
