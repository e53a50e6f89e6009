/**
 * Reads plans and rate cards from a file, and writes them to one.
 */
import { readFile, rename, writeFile } from "node:fs/promises"
import { extname, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Data, Effect } from "effect"

/** The file can't be read or written, or it has no plans. */
export class PlanFileError extends Data.TaggedError("PlanFileError")<{ readonly message: string }> {}

const MODULES: ReadonlyArray<string> = [".ts", ".mts", ".js", ".mjs", ".cjs"]
const FORMS = `.json, ${MODULES.join(", ")}`

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What a file has: what is pushed. */
export interface Catalogue {
  readonly plans: ReadonlyArray<unknown>
  readonly rate_cards: ReadonlyArray<unknown>
}

const LISTS: ReadonlyArray<string> = ["plans", "rate_cards"]

const looksLikePlan = (value: unknown): boolean => isFields(value) && "key" in value && "charges" in value
const looksLikeCard = (value: unknown): boolean => isFields(value) && "key" in value && "models" in value

const sorted = (values: ReadonlyArray<unknown>): Catalogue => ({
  plans: values.filter((value) => !looksLikeCard(value)),
  rate_cards: values.filter(looksLikeCard),
})

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return "code" in error && error.code === "ENOENT" ? "there is no such file" : error.message
}

const failed = (file: string) => (error: unknown) =>
  new PlanFileError({ message: `${file} can't be read: ${reasonOf(error)}` })

/** Throws unless the object has the two lists and nothing else: what has another name would not be pushed. */
const ofLists = (fields: Fields): Catalogue => {
  const other = Object.keys(fields).find((name) => !LISTS.includes(name))
  if (other !== undefined) {
    throw new Error(
      `"${other}" is not expected. An object must be a plan or a rate card with its key, or have the lists "plans" and "rate_cards" and nothing else`,
    )
  }
  const listOf = (name: keyof Catalogue): ReadonlyArray<unknown> => {
    const value = name in fields ? fields[name] : []
    if (!Array.isArray(value)) throw new Error(`"${name}" must be a list`)
    return value
  }
  return { plans: listOf("plans"), rate_cards: listOf("rate_cards") }
}

/**
 * JSON: an object with the lists `plans` and `rate_cards`, a list of plans and rate cards, or one of them. The server checks
 * them.
 */
const ofJson = (value: unknown): Catalogue => {
  if (Array.isArray(value)) return sorted(value)
  const isOne = !isFields(value) || ("key" in value && !LISTS.some((name) => name in value))
  return isOne ? sorted([value]) : ofLists(value)
}

const isPushed = (value: unknown): boolean => looksLikePlan(value) || looksLikeCard(value)

const itemsOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [value])

/** What the values of an object or a list are, and what their lists have. */
const insideOf = (value: unknown): ReadonlyArray<unknown> =>
  typeof value === "object" && value !== null && !isPushed(value) ? Object.values(value).flatMap(itemsOf) : []

/** A plan or a rate card that is misspelt. Of what else a host may export, charges and meters have a key. */
const isMisspelt = (value: unknown): boolean =>
  isFields(value) &&
  typeof value["key"] === "string" &&
  !isPushed(value) &&
  typeof value["model"] !== "string" &&
  !("productId" in value)

/** A module: all that is exported, also in lists. Exporting one twice counts once. Throws for what would not be pushed. */
const ofModule = (exports: Fields): Catalogue => {
  const found = new Set(Object.values(exports).flatMap(itemsOf).filter(isPushed))
  for (const [name, value] of Object.entries(exports)) {
    const items = itemsOf(value)
    if (items.some(isMisspelt)) {
      throw new Error(
        `its export "${name}" has a key, and is neither a plan with "charges" nor a rate card with "models"`,
      )
    }
    if (items.flatMap(insideOf).some((inner) => isPushed(inner) && !found.has(inner))) {
      throw new Error(
        `its export "${name}" has plans or rate cards inside of something else. Export each of them, or a list of them`,
      )
    }
  }
  return sorted([...found])
}

/** What a file has: JSON, or a module that exports plans of `definePlan` and rate cards. A module is run. */
export const read = (file: string): Effect.Effect<Catalogue, PlanFileError> =>
  Effect.gen(function* () {
    const extension = extname(file)
    if (extension !== ".json" && !MODULES.includes(extension)) {
      return yield* new PlanFileError({ message: `${file} is no file of plans: it must end with ${FORMS}` })
    }
    const load = async (): Promise<Catalogue> =>
      extension === ".json"
        ? ofJson(JSON.parse(await readFile(file, "utf8")))
        : ofModule((await import(pathToFileURL(resolve(file)).href)) as Fields)
    const found = yield* Effect.tryPromise({ try: load, catch: failed(file) })
    if (found.plans.length + found.rate_cards.length > 0) return found
    return yield* new PlanFileError({
      message: `${file} has no plans: export what definePlan gives, or write a list of plans`,
    })
  })

/** JSON with sorted fields, two spaces deep, so that equal catalogues are equal text. Without rate cards, a list of plans. */
const textOf = (catalogue: Catalogue): string => {
  const ordered = (_name: string, value: unknown): unknown =>
    isFields(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
  return `${JSON.stringify(catalogue.rate_cards.length === 0 ? catalogue.plans : catalogue, ordered, 2)}\n`
}

/** Writes a JSON file, in place of what is there. A file that can't be written whole is left as it was. */
export const write = (file: string, catalogue: Catalogue): Effect.Effect<void, PlanFileError> =>
  Effect.gen(function* () {
    if (extname(file) !== ".json") {
      return yield* new PlanFileError({
        message: `${file} can't be written: plans are pulled to a .json file`,
      })
    }
    const part = `${file}.part`
    yield* Effect.tryPromise({
      try: async () => {
        await writeFile(part, textOf(catalogue))
        await rename(part, file)
      },
      catch: (error) => new PlanFileError({ message: `${file} can't be written: ${reasonOf(error)}` }),
    })
  })
