/**
 * Makes the OpenAPI 3.1 document from the definitions. `/openapi.json` serves it.
 *
 * Effect derives paths, schemas and statuses. This module adds the parts that a definition can't hold: examples,
 * the headers of every answer, the security scheme, and the requests that webhook receivers get. It also simplifies
 * the derived schemas.
 */
import { EventCatalogue, type EventType, Plan } from "@billwright/core"
import { Context, Option } from "effect"
import { type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { BillwrightApi } from "./BillwrightApi.ts"
import { AttemptsPayment, CallsProvider } from "./CallsProvider.ts"
import { ERRORS } from "./ErrorBody.ts"
import { examples } from "./Examples.ts"
import { isObject, type Json, type JsonObject, simplify } from "./JsonSchema.ts"
import { RequiredPermission } from "./Permission.ts"
import { portable, withNullTypes } from "./Portable.ts"
import * as WebhooksSection from "./WebhooksSection.ts"

/** Removes the suffix that Effect adds to names. */
const plainName = (name: string): string => name.replace(/Encoded$/, "")

const endpoints = new Map<string, HttpApiEndpoint.Top>()
for (const group of Object.values(BillwrightApi.groups)) {
  for (const endpoint of Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>) {
    endpoints.set(endpoint.identifier, endpoint)
  }
}

const REQUEST_ID_HEADER = {
  description: "The id of this request in the server's log. Each request gets a new one.",
  required: true,
  schema: { type: "string", pattern: "^req_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
}

const RETRY_AFTER_HEADER = {
  description: "The number of seconds to wait before retrying.",
  schema: { type: "integer", minimum: 1, maximum: 86_400 },
}

const REPLAYED_HEADER = {
  description: "Present when this is the answer to an earlier request with the same Idempotency-Key.",
  schema: { type: "string", enum: ["true"] },
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Makes the request safe to repeat: for 7 days, the same key gets the first answer again and changes nothing.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
}

/** How requests can be repeated, as the document says it. */
interface Repeats {
  readonly key: Json
  /** The header of answers to repeats. `undefined`: a repeat is carried out. */
  readonly replayed?: Json
}

const STORED: Repeats = { key: IDEMPOTENCY_KEY, replayed: REPLAYED_HEADER }

const ATTEMPTED: Repeats = {
  key: {
    ...IDEMPOTENCY_KEY,
    description:
      "Makes the request safe to repeat: for 7 days, the same key attempts nothing again, and gets things as they are by then.",
  },
  replayed: {
    ...REPLAYED_HEADER,
    description: "Present when an earlier request had the same Idempotency-Key: this one attempted nothing.",
  },
}

const HARMLESS: Repeats = {
  key: {
    ...IDEMPOTENCY_KEY,
    description:
      "Not needed: without a key, too, the request is safe to repeat. A repeat gets things as they are by then.",
  },
}

const repeatsOf = (endpoint: HttpApiEndpoint.Top): Repeats => {
  if (Context.get(endpoint.annotations, AttemptsPayment)) return ATTEMPTED
  return Context.get(endpoint.annotations, CallsProvider) ? HARMLESS : STORED
}

const PATH_ID = { type: "string", minLength: 1, maxLength: 64 }

const exampleOfError = (code: string): Json => ({
  error: code,
  message: ERROR_EXAMPLES[code] ?? "an explanation for people",
})

const ERROR_EXAMPLES: Readonly<Record<string, string>> = {
  invalid_request: "customer_id is required",
  unauthorized: "a valid API key is required: Authorization: Bearer <API key>",
  forbidden: "the API key lacks the scope customers:write",
  not_found: "no customer has the id cus_01kb2r6ghefxhs59czp23x4vmk",
  method_not_allowed: "PUT is not allowed on this path, only GET, HEAD, POST",
  conflict: "a request with the same Idempotency-Key is still running",
  request_timeout: "the body took longer than 30 s",
  payload_too_large: "the body is larger than 1048576 bytes",
  unsupported_media_type: "the body must be sent with Content-Type: application/json",
  idempotency_key_reused: "the Idempotency-Key was already used for a request with other content",
  rate_limited: "this API key has sent too many requests",
  internal_error:
    "something went wrong on the server: quote req_01kb2rb5jeexxa0s5kydtw3c3n when you report it",
  unavailable: "the storage is out of reach, try again in a moment",
}

const codeOfStatus = (status: string): string | undefined =>
  Object.entries(ERRORS).find(([, error]) => String(error.status) === status)?.[0]

const withExample = (holder: Json | undefined, example: Json): Json => {
  const content = isObject(holder) && isObject(holder["content"]) ? holder["content"] : {}
  const [type = "application/json", body] = Object.entries(content)[0] ?? []
  return {
    ...(isObject(holder) ? holder : {}),
    content: { [type]: { ...(isObject(body) ? body : {}), example } },
  }
}

const response = (status: string, derived: Json, id: string, replayed: Json | undefined): Json => {
  const code = codeOfStatus(status)
  const example = code === undefined ? examples[id]?.response : exampleOfError(code)
  const isRetryable = status === "429" || status === "503" || status === "409"
  return {
    ...(withExample(derived, (example ?? {}) as Json) as JsonObject),
    headers: {
      "Request-Id": REQUEST_ID_HEADER,
      ...(isRetryable ? { "Retry-After": RETRY_AFTER_HEADER } : {}),
      ...(replayed !== undefined && Number(status) < 500 && status !== "401"
        ? { "Idempotent-Replayed": replayed }
        : {}),
    },
  }
}

/** Moves the description from a parameter's schema to the parameter itself. */
const parameter = (derived: Json): Json => {
  if (!isObject(derived) || !isObject(derived["schema"])) return derived
  const { description, ...schema } = derived["schema"]
  return {
    ...derived,
    ...(description === undefined ? {} : { description }),
    schema: derived["in"] === "path" ? PATH_ID : schema,
  }
}

const operation = (derived: JsonObject, method: string, schemas: JsonObject): Json => {
  const id = String(derived["operationId"]).split(".").at(-1) ?? ""
  const endpoint = endpoints.get(id)
  const permission =
    endpoint && Option.getOrUndefined(Context.getOption(endpoint.annotations, RequiredPermission))
  const repeats =
    endpoint !== undefined && permission !== undefined && method !== "get" ? repeatsOf(endpoint) : undefined
  const request = examples[id]?.request
  const parameters = (Array.isArray(derived["parameters"]) ? derived["parameters"] : []).map(parameter)
  const responses = Object.entries(isObject(derived["responses"]) ? derived["responses"] : {})
  return {
    operationId: id,
    summary: derived["summary"] ?? "",
    description: `${String(derived["description"] ?? "")}${permission === undefined ? "" : ` Needs the scope \`${permission}\`.`}`,
    tags: derived["tags"] ?? [],
    security: permission === undefined ? [] : [{ apiKey: [] }],
    ...(parameters.length > 0 || repeats !== undefined
      ? { parameters: repeats === undefined ? parameters : [...parameters, repeats.key] }
      : {}),
    ...(request === undefined
      ? {}
      : { requestBody: requestBody(derived["requestBody"], request as Json, method, schemas) }),
    responses: Object.fromEntries(
      responses.map(([status, value]) => [status, response(status, value, id, repeats?.replayed)]),
    ),
  }
}

/** The body of a POST is optional when all its fields are optional (see `Routes`). */
const requestBody = (
  derived: Json | undefined,
  example: Json,
  method: string,
  schemas: JsonObject,
): JsonObject => {
  const body = withExample(derived, example) as JsonObject
  const content = body["content"] as JsonObject
  const { schema } = content["application/json"] as JsonObject
  const reference = isObject(schema) ? String(schema["$ref"]).split("/").at(-1) : undefined
  const resolved = schemas[reference ?? ""]
  return {
    ...body,
    required: method !== "post" || (isObject(resolved) && resolved["required"] !== undefined),
  }
}

const pathsOf = (derived: JsonObject, schemas: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(derived["paths"] as JsonObject).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item as JsonObject).map(([method, value]) => [
          method,
          operation(value as JsonObject, method, schemas),
        ]),
      ),
    ]),
  )

const sorted = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))

/** The parts that are the same for every server. */
interface Fixed {
  readonly info: Json
  readonly tags: ReadonlyArray<Json>
  readonly paths: JsonObject
  readonly schemas: JsonObject
}

const makeFixed = (): Fixed => {
  const derived = portable(
    simplify(OpenApi.fromApi(BillwrightApi) as unknown as Json, plainName),
  ) as JsonObject
  const schemas: JsonObject = {
    ...Object.fromEntries(
      Object.entries((derived["components"] as JsonObject)["schemas"] as JsonObject).map(([name, schema]) => [
        plainName(name),
        schema,
      ]),
    ),
    ...(portable(Plan.schemas as Json) as JsonObject),
  }
  return {
    info: derived["info"] ?? {},
    tags: derived["tags"] as ReadonlyArray<Json>,
    paths: pathsOf(derived, schemas),
    schemas,
  }
}

let fixed: Fixed | undefined

const builtIn = EventCatalogue.builtIn.toSorted((a, b) => (a.name < b.name ? -1 : 1))

/**
 * The document of a server with these event types, as a JSON value. Default: the built-in event types. The first call
 * takes longer: most programs need no document, so nothing is prepared before it.
 */
export const makeOpenApiDocument = (types: ReadonlyArray<EventType.EventType> = builtIn): JsonObject => {
  const { info, paths, schemas: derivedSchemas, tags } = (fixed ??= makeFixed())
  const { schemas, webhooks } = WebhooksSection.make(types)
  return {
    openapi: "3.1.0",
    info,
    // Relative to this document, so that it is correct wherever the API is mounted.
    servers: [{ url: ".", description: "The server of this document." }],
    tags: [...tags, WebhooksSection.WEBHOOKS_TAG],
    security: [{ apiKey: [] }],
    paths,
    webhooks: withNullTypes(portable(webhooks)),
    components: {
      schemas: sorted({ ...derivedSchemas, ...(withNullTypes(portable(schemas)) as JsonObject) }),
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "An API key: `sk_live_…` or `sk_test_…`.",
        },
      },
    },
  }
}
