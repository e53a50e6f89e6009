/**
 * Which operation a path and a method mean, read from the API's definition.
 */
import { type ApiKey, Input, InvalidInput } from "@billwright/core"
import { Context, Effect, Exit, Option, Predicate, type Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { SchemaJITCompiler } from "effect/schema"
import { BillwrightApi } from "../api/BillwrightApi.ts"
import { RequiredPermission } from "../api/Permission.ts"
import { SecretAnswer } from "../api/SecretAnswer.ts"
import { GIVEN_TWICE, NoSuchPath, UNKNOWN_FIELD, WrongMethod } from "./ErrorAnswer.ts"

type Decode = (input: unknown) => Effect.Effect<unknown, InvalidInput>

export interface Route {
  readonly id: string
  readonly method: string
  /** The scope that a key needs; none for routes without a key. */
  readonly permission: ApiKey.Permission | undefined
  readonly decodeQuery: Decode
  /** An operation that takes no body takes an empty one, or an object without fields. */
  readonly decodeBody: Decode
  /** Whether its answer may hold a secret. */
  readonly isSecret: boolean
}

export interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** What an operation is given, once it is decoded by the definitions of its route. */
export interface DecodedInput {
  readonly params: Match["params"]
  readonly query: unknown
  readonly payload: unknown
}

/** A step of a path: what follows a fixed segment, what follows any segment, and the routes that end here. */
interface Node {
  readonly fixed: Map<string, Node>
  any: { readonly name: string; readonly node: Node } | undefined
  readonly routes: Map<string, Route>
}

const newNode = (): Node => ({ fixed: new Map(), any: undefined, routes: new Map() })

/** Takes no fields. A Schema without fields would take any. */
const decodeNothing: Decode = (input) => {
  const [name] = Object.keys(input as object)
  return name === undefined
    ? Effect.succeed({})
    : Effect.fail(new InvalidInput({ field: Input.fieldPath([name]), problem: UNKNOWN_FIELD }))
}

/** A decoder that is compiled, which makes it faster, unless the host lets nobody make code of text. */
const compiledDecoder = (schema: Schema.Codec<unknown, unknown>): Decode => {
  SchemaJITCompiler.enable(schema.ast)
  return Input.strictDecoder(schema)
}

const decoderOf = (schema: Schema.Top | undefined, root: string): Decode => {
  const decode =
    schema === undefined ? decodeNothing : compiledDecoder(schema as Schema.Codec<unknown, unknown>)
  const refused = (problem: string) => Effect.fail(new InvalidInput({ field: root, problem }))
  return (input) => {
    if (input === undefined) return refused("is required")
    // A Schema would say that it must be what the Schema is called.
    if (!Predicate.isObject(input) || Array.isArray(input)) return refused("must be object")
    return decode(input)
  }
}

const decodeEmptyObject = decoderOf(undefined, "the body")
const decodeNoBody: Decode = (json) => (json === undefined ? Effect.undefined : decodeEmptyObject(json))

const decodesEmpty = (decode: Decode): boolean => Exit.isSuccess(Effect.runSyncExit(decode({})))

/**
 * A POST whose fields may all be left out needs no body: it says what to do by its path. Clients that are generated
 * for Go and Java write `null` for a body that is left out. A PATCH without one has lost it.
 */
const bodyDecoderOf = (method: string, schema: Schema.Top): Decode => {
  const decode = decoderOf(schema, "the body")
  return method === "POST" && decodesEmpty(decode) ? (json) => decode(json ?? {}) : decode
}

const toRoute = (endpoint: HttpApiEndpoint.Top): Route => {
  const [body] = endpoint.payload.values()
  return {
    id: endpoint.identifier,
    method: endpoint.method,
    permission: Option.getOrUndefined(Context.getOption(endpoint.annotations, RequiredPermission)),
    decodeQuery: decoderOf(endpoint.query as Schema.Top | undefined, "the query"),
    decodeBody:
      body === undefined ? decodeNoBody : bodyDecoderOf(endpoint.method, body.schemas[0] as Schema.Top),
    isSecret: Context.get(endpoint.annotations, SecretAnswer),
  }
}

const add = (path: string, route: Route): void => {
  let node = root
  for (const segment of path.split("/").slice(1)) {
    if (segment.startsWith(":")) {
      node.any ??= { name: segment.slice(1), node: newNode() }
      node = node.any.node
    } else {
      const next = node.fixed.get(segment) ?? newNode()
      node.fixed.set(segment, next)
      node = next
    }
  }
  node.routes.set(route.method, route)
  if (!path.includes(":")) fixedPaths.set(path, node)
}

const root: Node = newNode()
/** Those whose paths have no parameters: most requests go to them. */
const fixedPaths = new Map<string, Node>()
for (const group of Object.values(BillwrightApi.groups)) {
  for (const endpoint of Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>) {
    add(endpoint.path, toRoute(endpoint))
  }
}

/** Reading without the body is reading: HEAD goes to the route of GET. */
const routedMethod = (method: string): string => (method === "HEAD" ? "GET" : method)

const allowedMethods = (node: Node): string =>
  [...node.routes.keys()].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ")

const decodeText = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** What ids consist of. */
const ID = /^\w+$/

/** Follows a path to where routes end, and notes its parameters; `undefined` when no route begins so. */
const walk = (path: string, params: Record<string, string>): Node | undefined => {
  let node = root
  for (const segment of path.split("/").slice(1)) {
    // As sent: `/%761` is not `/v1`, or it would get past the check for a key.
    const fixed = node.fixed.get(segment)
    if (fixed !== undefined) {
      node = fixed
      continue
    }
    const text = decodeText(segment)
    if (node.any === undefined || text === undefined || text === "") return undefined
    // Nor is an id that is encoded that id: it has nothing to encode, and hosts compare paths as they are sent.
    if (text !== segment && ID.test(text)) return undefined
    params[node.any.name] = text
    node = node.any.node
  }
  return node
}

/** Finds the route of a path. `NoSuchPath` and `WrongMethod` say what is wrong with it. */
export const match = (method: string, path: string): Effect.Effect<Match, NoSuchPath | WrongMethod> => {
  const params: Record<string, string> = {}
  const node = fixedPaths.get(path) ?? walk(path, params)
  if (node === undefined || node.routes.size === 0) return Effect.fail(new NoSuchPath({ path }))
  const route = node.routes.get(routedMethod(method))
  if (route === undefined) return Effect.fail(new WrongMethod({ method, allow: allowedMethods(node) }))
  return Effect.succeed({ route, params })
}

/** Takes a query string apart. A parameter given twice is refused: which one counts would be a guess. */
export const parseQuery = (query: string): Effect.Effect<Record<string, string>, InvalidInput> => {
  const values: Record<string, string> = {}
  if (query === "") return Effect.succeed(values)
  for (const part of query.split("&")) {
    if (part === "") continue
    const at = part.indexOf("=")
    const name = decodeText((at === -1 ? part : part.slice(0, at)).replaceAll("+", " "))
    const value = decodeText(at === -1 ? "" : part.slice(at + 1).replaceAll("+", " "))
    if (name === undefined || value === undefined) {
      return Effect.fail(new InvalidInput({ field: "the query", problem: "is not percent-encoded UTF-8" }))
    }
    if (Object.hasOwn(values, name)) {
      return Effect.fail(new InvalidInput({ field: Input.fieldPath([name]), problem: GIVEN_TWICE }))
    }
    Object.defineProperty(values, name, { value, enumerable: true, writable: true, configurable: true })
  }
  return Effect.succeed(values)
}
