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

const looksLikePlan = (value: unknown): boolean => isFields(value) && "key" in value && "charges" in value
const looksLikeCard = (value: unknown): boolean => isFields(value) && "key" in value && "models" in value

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

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

/**
 * JSON: an object with the lists `plans` and `rate_cards`, a list of plans and rate cards, or one of them. The server checks
 * them.
 */
const ofJson = (value: unknown): Catalogue => {
  if (Array.isArray(value)) return sorted(value)
  return isFields(value) && (Array.isArray(value["plans"]) || Array.isArray(value["rate_cards"]))
    ? { plans: listOf(value["plans"]), rate_cards: listOf(value["rate_cards"]) }
    : sorted([value])
}

/** A module: all that is exported, also in lists. Exporting one twice counts once. */
const ofModule = (exports: Fields): Catalogue => {
  const found = Object.values(exports).flatMap((value) => (Array.isArray(value) ? value : [value]))
  return sorted([...new Set(found.filter((value) => looksLikePlan(value) || looksLikeCard(value)))])
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
