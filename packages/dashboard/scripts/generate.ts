/**
 * Writes `app/api/Schema.ts`: the types of the REST API, from its OpenAPI document. Writes `app/api/Permissions.ts`: what an
 * operator needs for each operation, from the routes.
 *
 * Run it after a change of the API: `npm run generate -w packages/dashboard`. A test checks that the files are up to date.
 */
import { readFile, writeFile } from "node:fs/promises"
import { pathToFileURL } from "node:url"
import { BillwrightApi, type Json, makeOpenApiDocument, RequiredPermission } from "@billwright/http/api"
import { Context, Option } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript"

const HEADER = "/** Generated from the OpenAPI document by scripts/generate.ts. Not to be edited. */\n"
const PERMISSIONS_HEADER =
  "/** Generated from the routes of the API by scripts/generate.ts. Not to be edited. */\n"

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

const schema = async (): Promise<string> =>
  HEADER + astToString(await openapiTS(slim(makeOpenApiDocument()) as unknown as OpenAPI3))

/** Named as the client calls it. */
const operationName = ({ method, path }: HttpApiEndpoint.Top): string =>
  `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`

const permissionLines = (endpoint: HttpApiEndpoint.Top): ReadonlyArray<string> => {
  const permission = Option.getOrUndefined(Context.getOption(endpoint.annotations, RequiredPermission))
  return permission === undefined ? [] : [`  "${operationName(endpoint)}": "${permission}",\n`]
}

const permissions = (): string => {
  const endpoints = Object.values(BillwrightApi.groups).flatMap(
    (group) => Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>,
  )
  const lines = endpoints.flatMap(permissionLines).sort()
  return `${PERMISSIONS_HEADER}export const PERMISSIONS = {\n${lines.join("")}} as const\n`
}

/** The generated files of `app/api`, with the text that each should have. */
export const generate = async (): Promise<Readonly<Record<string, string>>> => ({
  "Schema.ts": await schema(),
  "Permissions.ts": permissions(),
})

const fileOf = (name: string): URL => new URL(`../app/api/${name}`, import.meta.url)

/** The text that a generated file has. */
export const committed = (name: string): Promise<string> => readFile(fileOf(name), "utf8")

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [name, text] of Object.entries(await generate())) await writeFile(fileOf(name), text)
}
