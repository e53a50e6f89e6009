import { readFile } from "node:fs/promises"
/**
 * Validates answers by the OpenAPI document of Stripe.
 */
import { Ajv, type AnySchema } from "ajv"

type Json = Readonly<Record<string, unknown>>

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: Json }>> }>
  >
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Json }
}

/** An answer to a call. */
export interface Answer {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly body: unknown
}

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type. */
const jsonSchemaOf = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(jsonSchemaOf)
  if (typeof schema !== "object" || schema === null) return schema
  const { nullable, ...rest } = schema as { readonly nullable?: unknown }
  const entries = Object.entries(rest).filter(([name]) => !name.startsWith("x-"))
  const plain = Object.fromEntries(entries.map(([name, value]) => [name, jsonSchemaOf(value)]))
  return nullable === true ? { anyOf: [plain, { type: "null" }] } : plain
}

const DOCUMENT = "stripe"

const absolute = (schema: unknown): AnySchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', `"${DOCUMENT}#/components/`)) as AnySchema

/** Gives a function that says what is wrong with an answer: an empty list, if nothing is. */
export const readDocument = async (file: string) => {
  const { components, paths } = JSON.parse(await readFile(file, "utf8")) as OpenApi
  const ajv = new Ajv({ strict: false, inlineRefs: false, validateFormats: false, allErrors: true })
  ajv.addSchema({ $id: DOCUMENT, components: jsonSchemaOf(components) })
  // A path without parameters comes before one with them, such as `/v1/customers/search`.
  const templates = Object.keys(paths)
    .sort((one, other) => one.split("{").length - other.split("{").length)
    .map((path) => [path, new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`)] as const)

  const problemsOfValue = (schema: unknown, value: unknown): ReadonlyArray<string> => {
    const validate = ajv.compile(absolute(jsonSchemaOf(schema)))
    if (validate(value)) return []
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message ?? ""}`)
  }

  return {
    problemsOfObject: (name: string, value: unknown) =>
      problemsOfValue({ $ref: `#/components/schemas/${name}` }, value),
    problemsOf: ({ body, method, path, status }: Answer): ReadonlyArray<string> => {
      const [template] = templates.find(([, pattern]) => pattern.test(path)) ?? []
      const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()]
      if (operation === undefined) return [`${method} ${path} is no operation of Stripe`]
      const response = operation.responses[status === 200 ? "200" : "default"]
      const schema = response?.content["application/json"]?.schema
      return problemsOfValue(schema, body).map((problem) => `${method} ${path} ${status}${problem}`)
    },
  }
}
