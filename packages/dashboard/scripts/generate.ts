/**
 * Writes `app/api/Schema.ts`: the types of the REST API, from its OpenAPI document.
 *
 * Run it after a change of the API: `npm run generate -w packages/dashboard`. A test checks that the file is up to date.
 */
import { readFile, writeFile } from "node:fs/promises"
import { pathToFileURL } from "node:url"
import { type Json, makeOpenApiDocument } from "@billwright/http/api"
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript"

/** The file with the types. */
export const SCHEMA_FILE = new URL("../app/api/Schema.ts", import.meta.url)

const HEADER = "/** Generated from the OpenAPI document by scripts/generate.ts. Not to be edited. */\n"

/** Keywords without effect on the types: texts, and errors, which all have the same form. */
const LEFT_OUT = new Set(["description", "summary", "example", "headers"])

const isError = (key: string): boolean => /^[45]\d\d$/.test(key)

/** Below these keywords are names of fields, not keywords. */
const NAMING = new Set(["properties", "schemas"])

const slim = (value: Json, isNaming = false): Json => {
  if (Array.isArray(value)) return value.map((item) => slim(item))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => isNaming || !(LEFT_OUT.has(key) || isError(key)))
      .map(([key, item]) => [key, slim(item, !isNaming && NAMING.has(key))]),
  )
}

/** The text that `SCHEMA_FILE` should have. */
export const generate = async (): Promise<string> =>
  HEADER + astToString(await openapiTS(slim(makeOpenApiDocument()) as unknown as OpenAPI3))

/** The text that `SCHEMA_FILE` has. */
export const committed = (): Promise<string> => readFile(SCHEMA_FILE, "utf8")

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await writeFile(SCHEMA_FILE, await generate())
}
