/**
 * Finds the operation of a path and a method. The routes are made from the API's definition.
 */
import { type ApiKey, Input, InvalidInput } from "@billwright/core"
import { Context, Effect, Exit, Option, Predicate, type Schema, SchemaAST } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { SchemaJITCompiler } from "effect/schema"
import { BillwrightApi } from "../api/BillwrightApi.ts"
import { AttemptsPayment, CallsProvider } from "../api/CallsProvider.ts"
import { RequiredPermission } from "../api/Permission.ts"
import { SecretAnswer } from "../api/SecretAnswer.ts"
import { GIVEN_TWICE, NoSuchPath, UNKNOWN_FIELD, WrongMethod } from "./ErrorResponse.ts"
import { isHeavyRead } from "./HeavyRead.ts"

type Decode = (input: unknown) => Effect.Effect<unknown, InvalidInput>

export interface Route {
  readonly id: string
  readonly method: string
  /** The scope that a key needs; `undefined` for routes without a key. */
  readonly permission: ApiKey.Permission | undefined
  readonly decodeQuery: Decode
  /** The names of the query parameters. */
  readonly parameters: ReadonlySet<string>
  /** The query parameters that may be given several times. Each is a list. */
  readonly repeated: ReadonlySet<string>
  /** Decodes the body. An operation without a body accepts an empty body or an empty object. */
  readonly decodeBody: Decode
  /** Whether the answer may contain a secret. */
  readonly isSecret: boolean
  /** Whether it calls the payment provider. */
  readonly callsProvider: boolean
  /** Whether it attempts a payment there, which a repeat must not do again. */
  readonly attemptsPayment: boolean
  /** Whether it may read much, so that accounts take turns with it. */
  readonly isHeavyRead: boolean
}

export interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** The decoded input of an operation. */
export interface DecodedInput {
  readonly params: Match["params"]
  readonly query: unknown
  readonly payload: unknown
}

/**
 * A node of the routing tree: the nodes after fixed segments, the node after a parameter, and the routes that end
 * here.
 */
interface Node {
  readonly fixed: Map<string, Node>
  any: { readonly name: string; readonly node: Node } | undefined
  readonly routes: Map<string, Route>
}

const newNode = (): Node => ({ fixed: new Map(), any: undefined, routes: new Map() })

/** Accepts only an empty object. A Schema without fields would accept any object. */
const decodeNothing: Decode = (input) => {
  const [name] = Object.keys(input as object)
  return name === undefined
    ? Effect.succeed({})
    : Effect.fail(new InvalidInput({ field: Input.fieldPath([name]), problem: UNKNOWN_FIELD }))
}

/** A decoder that is compiled for speed, unless the host forbids making code from text. */
const compiledDecoder = (schema: Schema.Codec<unknown, unknown>): Decode => {
  SchemaJITCompiler.enable(schema.ast)
  return Input.strictDecoder(schema)
}

/** A decoder that is made for the first input: compiling those of all operations takes longer than starting. */
const lazily = (make: () => Decode): Decode => {
  let made: Decode | undefined
  return (input) => (made ??= make())(input)
}

const decoderOf = (schema: Schema.Top | undefined, root: string): Decode => {
  const decode =
    schema === undefined
      ? decodeNothing
      : lazily(() => compiledDecoder(schema as Schema.Codec<unknown, unknown>))
  const refused = (problem: string) => Effect.fail(new InvalidInput({ field: root, problem }))
  return (input) => {
    if (input === undefined) return refused("is required")
    // Checked here, because a Schema's own message would contain the Schema's name.
    if (!Predicate.isObject(input) || Array.isArray(input)) return refused("must be object")
    return decode(input)
  }
}

const decodeEmptyObject = decoderOf(undefined, "the body")
const decodeNoBody: Decode = (json) => (json === undefined ? Effect.undefined : decodeEmptyObject(json))

const decodesEmpty = (decode: Decode): boolean => Exit.isSuccess(Effect.runSyncExit(decode({})))

/**
 * A POST whose fields are all optional needs no body. Generated clients for Go and Java send `null` for a body that
 * is left out. A PATCH needs a body: without one it would change nothing.
 */
const bodyDecoderOf = (method: string, schema: Schema.Top): Decode => {
  const decode = decoderOf(schema, "the body")
  return method === "POST" && decodesEmpty(decode) ? (json) => decode(json ?? {}) : decode
}

/** The fields of a query, as they are sent. */
const sentOf = (query: Schema.Top | undefined) => {
  const sent = query && SchemaAST.toEncoded(query.ast)
  return sent !== undefined && SchemaAST.isObjects(sent) ? sent.propertySignatures : []
}

const namesOf = (fields: ReturnType<typeof sentOf>): ReadonlySet<string> =>
  new Set(fields.map(({ name }) => String(name)))

/**
 * Refuses unknown parameters before the query is decoded. The decoder counts fields to find unknown ones, and parameters that
 * become objects, such as `where`, would make up for them.
 */
const queryDecoderOf = (query: Schema.Top | undefined, known: ReadonlySet<string>): Decode => {
  const decode = decoderOf(query, "the query")
  return (input) => {
    const unknown = Object.keys(input as object).find((name) => !known.has(name))
    return unknown === undefined
      ? decode(input)
      : Effect.fail(new InvalidInput({ field: Input.fieldPath([unknown]), problem: UNKNOWN_FIELD }))
  }
}

const toRoute = (endpoint: HttpApiEndpoint.Top): Route => {
  const [body] = endpoint.payload.values()
  const query = endpoint.query as Schema.Top | undefined
  const sent = sentOf(query)
  const parameters = namesOf(sent)
  return {
    id: endpoint.identifier,
    method: endpoint.method,
    permission: Option.getOrUndefined(Context.getOption(endpoint.annotations, RequiredPermission)),
    decodeQuery: queryDecoderOf(query, parameters),
    parameters,
    repeated: namesOf(sent.filter(({ type }) => SchemaAST.isArrays(type))),
    decodeBody:
      body === undefined
        ? decodeNoBody
        : lazily(() => bodyDecoderOf(endpoint.method, body.schemas[0] as Schema.Top)),
    isSecret: Context.get(endpoint.annotations, SecretAnswer),
    callsProvider: Context.get(endpoint.annotations, CallsProvider),
    attemptsPayment: Context.get(endpoint.annotations, AttemptsPayment),
    isHeavyRead: isHeavyRead(endpoint),
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
const routes = new Map<string, Route>()
/** The nodes of paths without parameters. Most requests go to them. */
const fixedPaths = new Map<string, Node>()
for (const group of Object.values(BillwrightApi.groups)) {
  for (const endpoint of Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>) {
    const route = toRoute(endpoint)
    routes.set(route.id, route)
    add(endpoint.path, route)
  }
}

/** The route of an operation. Throws a `TypeError` if there is none. */
export const byId = (id: string): Route => {
  const route = routes.get(id)
  if (route === undefined) throw new TypeError(`there is no operation ${id}`)
  return route
}

/** All permissions that some route needs. */
export const permissions: ReadonlySet<ApiKey.Permission> = new Set(
  [...routes.values()].flatMap(({ permission }) => (permission === undefined ? [] : [permission])),
)

/** The routes of lists in pages that have a filter, in the order of the API. */
export const listsOf = (filter: string): ReadonlyArray<Route> =>
  [...routes.values()].filter(
    ({ id, parameters }) =>
      id.startsWith("list") && parameters.has(filter) && parameters.has("starting_after"),
  )

/** HEAD uses the route of GET. */
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

/** The characters of ids. */
const ID = /^\w+$/

/** Follows a path through the routing tree and collects its parameters in `params`. `undefined`: no route matches. */
const walk = (path: string, params: Record<string, string>): Node | undefined => {
  let node = root
  for (const segment of path.split("/").slice(1)) {
    // Compared as sent. If `/%761` matched `/v1`, it would bypass the check of the API key.
    const fixed = node.fixed.get(segment)
    if (fixed !== undefined) {
      node = fixed
      continue
    }
    const text = decodeText(segment)
    if (node.any === undefined || text === undefined || text === "") return undefined
    // A percent-encoded id is refused: ids need no encoding, and hosts that protect paths compare them as they are
    // sent.
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

/**
 * Parses a query string. A parameter that is given twice is refused, because it is unclear which value counts, unless
 * it is one of the repeated parameters, which are lists.
 */
export const parseQuery = (
  query: string,
  repeated: ReadonlySet<string>,
): Effect.Effect<Record<string, string | ReadonlyArray<string>>, InvalidInput> => {
  const values: Record<string, string | Array<string>> = {}
  if (query === "") return Effect.succeed(values)
  for (const part of query.split("&")) {
    if (part === "") continue
    const at = part.indexOf("=")
    const name = decodeText((at === -1 ? part : part.slice(0, at)).replaceAll("+", " "))
    const value = decodeText(at === -1 ? "" : part.slice(at + 1).replaceAll("+", " "))
    if (name === undefined || value === undefined) {
      return Effect.fail(new InvalidInput({ field: "the query", problem: "is not percent-encoded UTF-8" }))
    }
    const known = Object.hasOwn(values, name) ? values[name] : undefined
    if (Array.isArray(known)) {
      known.push(value)
      continue
    }
    if (known !== undefined) {
      return Effect.fail(new InvalidInput({ field: Input.fieldPath([name]), problem: GIVEN_TWICE }))
    }
    Object.defineProperty(values, name, {
      value: repeated.has(name) ? [value] : value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return Effect.succeed(values)
}
