/**
 * Reads plans from a file, and writes them to one.
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

const looksLikePlan = (value: unknown): boolean => isFields(value) && "key" in value && "charges" in value

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return "code" in error && error.code === "ENOENT" ? "there is no such file" : error.message
}

const failed = (file: string) => (error: unknown) =>
  new PlanFileError({ message: `${file} can't be read: ${reasonOf(error)}` })

/** JSON: a list of plans, an object with the list `plans`, or one plan. The server checks the plans. */
const ofJson = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value
  return isFields(value) && Array.isArray(value["plans"]) ? value["plans"] : [value]
}

/** A module: every exported plan, and every plan in an exported list. Exporting one twice counts once. */
const ofModule = (exports: Fields): ReadonlyArray<unknown> => {
  const found = Object.values(exports).flatMap((value) => (Array.isArray(value) ? value : [value]))
  return [...new Set(found.filter(looksLikePlan))]
}

/** The plans of a file: JSON, or a module that exports plans of `definePlan`. A module is run. */
export const read = (file: string): Effect.Effect<ReadonlyArray<unknown>, PlanFileError> =>
  Effect.gen(function* () {
    const extension = extname(file)
    if (extension !== ".json" && !MODULES.includes(extension)) {
      return yield* new PlanFileError({ message: `${file} is no file of plans: it must end with ${FORMS}` })
    }
    const load = async (): Promise<ReadonlyArray<unknown>> =>
      extension === ".json"
        ? ofJson(JSON.parse(await readFile(file, "utf8")))
        : ofModule((await import(pathToFileURL(resolve(file)).href)) as Fields)
    const plans = yield* Effect.tryPromise({ try: load, catch: failed(file) })
    if (plans.length > 0) return plans
    return yield* new PlanFileError({
      message: `${file} has no plans: export what definePlan gives, or write a list of plans`,
    })
  })

/** Plans as JSON with sorted fields, two spaces deep, so that equal plans are equal text. */
const textOf = (plans: ReadonlyArray<Fields>): string => {
  const sorted = (_name: string, value: unknown): unknown =>
    isFields(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
  return `${JSON.stringify(plans, sorted, 2)}\n`
}

/** Writes plans to a JSON file, in place of what is there. A file that can't be written whole is left as it was. */
export const write = (file: string, plans: ReadonlyArray<Fields>): Effect.Effect<void, PlanFileError> =>
  Effect.gen(function* () {
    if (extname(file) !== ".json") {
      return yield* new PlanFileError({
        message: `${file} can't be written: plans are pulled to a .json file`,
      })
    }
    const part = `${file}.part`
    yield* Effect.tryPromise({
      try: async () => {
        await writeFile(part, textOf(plans))
        await rename(part, file)
      },
      catch: (error) => new PlanFileError({ message: `${file} can't be written: ${reasonOf(error)}` }),
    })
  })
