/**
 * Requests to the REST API, typed by its OpenAPI document.
 */
import { ApiError, fromResponse, noAnswer } from "./ApiError.ts"
import * as ExactJson from "./ExactJson.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as MissingPermissions from "./MissingPermissions.ts"
import type { paths } from "./Schema.ts"

type Method = "get" | "post" | "patch" | "delete"
type Path = keyof paths

type Operation<P extends Path, M extends Method> = paths[P] extends { [m in M]?: infer O }
  ? NonNullable<O>
  : never

/** In the generated types, `never` means that an operation doesn't have the part. */
type Had<V> = [NonNullable<V>] extends [never] ? undefined : NonNullable<V>
type Content<R> = R extends { content: { "application/json": infer J } } ? J : never

type Parameters<O, K extends "path" | "query"> = O extends { parameters: { [k in K]?: infer V } }
  ? Had<V>
  : undefined
type Body<O> = O extends { requestBody?: infer R } ? Had<Content<NonNullable<R>>> : undefined
/** The successful answer of an operation. */
type Answer<O> = O extends { responses: infer R } ? Content<R[keyof R]> : never

type Field<K extends string, V> = [V] extends [undefined] ? unknown : { readonly [key in K]: V }
/** Optional fields of a query may be `undefined`. They are left out. */
type Loose<V> = { [K in keyof V]: undefined extends V[K] ? V[K] | undefined : V[K] }
type QueryField<V> = [V] extends [undefined] ? unknown : { readonly query?: Loose<V> }

type Input<O> = Field<"path", Parameters<O, "path">> &
  QueryField<Parameters<O, "query">> &
  Field<"body", Body<O>> & { readonly signal?: AbortSignal }

export interface ClientOptions {
  /** The address of the API, up to and including `/v1`. */
  readonly apiUrl: string
  /** `undefined` if the host authenticates the operator. */
  readonly key: string | undefined
  /** Called when the API no longer accepts the key. */
  readonly onUnauthorized: () => void
}

/** The parts of a request. */
interface Outgoing {
  readonly path?: Readonly<Record<string, string>>
  /** A list repeats the parameter. */
  readonly query?: Readonly<Record<string, string | number | ReadonlyArray<string> | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** The paths whose answer is a document, and not JSON. */
export type DocumentPath = Extract<Path, `${string}/html` | `${string}/pdf`>

export interface Client {
  /** A document of the value with an id, as bytes with their type. */
  readonly document: (path: DocumentPath, id: string) => Promise<Blob>
  readonly call: <P extends Path, M extends Method>(
    method: M,
    path: P,
    input: Input<Operation<P, M>>,
  ) => Promise<Answer<Operation<P, M>>>
  /** What the operator may not do. */
  readonly permissions: MissingPermissions.MissingPermissions
  /** What is sent from now on is done once more, also if it is the same as a request whose answer got lost. */
  readonly startAnew: () => void
}

/** The longest time for an answer, in milliseconds. */
const TIMEOUT_MILLIS = 30_000
const VERSION = "/v1"

/** The address of a request. */
export const addressOf = (apiUrl: string, template: string, { path = {}, query = {} }: Outgoing): string => {
  const filled = template
    .slice(VERSION.length)
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""))
  const given = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, one] as const),
  )
  const sent = given.filter(([, value]) => value !== undefined && value !== "")
  const search = new URLSearchParams(sent.map(([name, value]) => [name, String(value)])).toString()
  return `${apiUrl}${filled}${search === "" ? "" : `?${search}`}`
}

/**
 * Shows a host that identifies the operator by a cookie that the request comes from this page. A foreign page can't send
 * this header. The API answers it with what the operator may not do.
 */
const PAGE_HEADER = "billwright-dashboard"

const headersOf = (
  key: string | undefined,
  idempotencyKey: string | undefined,
  hasBody: boolean,
): Record<string, string> => ({
  [PAGE_HEADER]: "1",
  ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  ...(hasBody ? { "content-type": "application/json" } : {}),
})

/** Makes a client. It rejects with an `ApiError`, or with the reason of an abort. */
export const make = ({ apiUrl, key, onUnauthorized }: ClientOptions): Client => {
  const keys = IdempotencyKeys.make()
  const permissions = MissingPermissions.make()
  const keyOf = (method: string, request: string, { signal }: Outgoing): string | undefined => {
    if (method === "get") return undefined
    // What can be aborted, such as a preview, changes nothing, and has to be up to date.
    return signal === undefined ? keys.of(request) : IdempotencyKeys.newKey()
  }
  const send = async <A>(
    method: string,
    template: string,
    input: Outgoing,
    accept: string,
    read: (response: Response) => Promise<A>,
  ): Promise<A> => {
    const timeout = AbortSignal.timeout(TIMEOUT_MILLIS)
    const signal = input.signal === undefined ? timeout : AbortSignal.any([input.signal, timeout])
    const address = addressOf(apiUrl, template, input)
    const body = input.body === undefined ? undefined : ExactJson.stringify(input.body)
    const request = `${method} ${address} ${body ?? ""}`
    try {
      const response = await fetch(address, {
        method: method.toUpperCase(),
        headers: { accept, ...headersOf(key, keyOf(method, request, input), body !== undefined) },
        ...(body === undefined ? {} : { body }),
        cache: "no-store",
        credentials: "same-origin",
        redirect: "error",
        signal,
      })
      permissions.note(response)
      if (response.ok) {
        const answer = await read(response)
        keys.settle(request)
        return answer
      }
      const text = await response.text()
      if (response.status === 401) onUnauthorized()
      throw fromResponse(response, text, permissions.reasonOf(`${method} ${template}`))
    } catch (error) {
      if (error instanceof ApiError && error.isRefusal) keys.settle(request)
      if (error instanceof ApiError || input.signal?.aborted === true) throw error
      throw noAnswer(error)
    }
  }
  const call = (method: string, template: string, input: Outgoing) =>
    send(method, template, input, "application/json", async (response) =>
      ExactJson.parse(await response.text()),
    )
  return {
    call: call as unknown as Client["call"],
    permissions,
    startAnew: keys.clear,
    document: (template, id) => send("get", template, { path: { id } }, "*/*", (response) => response.blob()),
  }
}
