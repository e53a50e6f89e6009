/**
 * A client of a running server's REST API, for commands that use it.
 */
import { Config, Context, Data, Effect, Layer, Option, Redacted, Schema, type Scope } from "effect"
import { Flag } from "effect/cli"
import { explainConfig, Misconfigured } from "./Store.ts"

const KEY_VARIABLE = "BILLWRIGHT_API_KEY"
const URL_VARIABLE = "BILLWRIGHT_URL"
const KEY = /^sk_(?:test|live)_[0-9A-Za-z]+$/
const DEFAULT_URL = "http://127.0.0.1:4100"
const JSON_HEADERS = { "content-type": "application/json" }
/** The longest time that an answer may take. */
const ANSWER_MILLIS = 30_000

/** Where the server is. */
export const url = Flag.String("url").pipe(
  Flag.withDescription(`Where the server is. Default: ${URL_VARIABLE}, or ${DEFAULT_URL}.`),
  Flag.withFallbackConfig(Config.String(URL_VARIABLE).pipe(Config.withDefault(DEFAULT_URL))),
)

/** There is no server at the address, or it is not a Billwright server. */
export class ServerUnreachable extends Data.TaggedError("ServerUnreachable")<{ readonly message: string }> {}

/** The server refused the request. The message is the server's own. */
export class ServerRefused extends Data.TaggedError("ServerRefused")<{
  readonly status: number
  readonly message: string
  /** All problems of what was sent, where the server lists them. */
  readonly problems: ReadonlyArray<{ readonly field: string; readonly problem: string }>
}> {}

export type ApiFailure = ServerRefused | ServerUnreachable

export interface Answer<A> {
  /** The fields that the command reads. */
  readonly value: A
  /** The whole body, unchanged. */
  readonly text: string
}

/** A list repeats the parameter. */
type Query = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The fields of an answer that a command reads. Other fields are ignored. */
type Reading<A> = Schema.Codec<A, unknown>

export class ApiClient extends Context.Service<
  ApiClient,
  {
    readonly get: <A>(path: string, as: Reading<A>, query?: Query) => Effect.Effect<Answer<A>, ApiFailure>
    /** `body` is JSON text. */
    readonly post: <A>(path: string, as: Reading<A>, body: string) => Effect.Effect<Answer<A>, ApiFailure>
    /** `body` is JSON text. */
    readonly patch: <A>(path: string, as: Reading<A>, body: string) => Effect.Effect<Answer<A>, ApiFailure>
    readonly delete: <A>(path: string, as: Reading<A>) => Effect.Effect<Answer<A>, ApiFailure>
    /** An answer that is no JSON, as it is. */
    readonly file: (path: string) => Effect.Effect<Uint8Array, ApiFailure>
    /** An answer whose body is read until the scope closes. */
    readonly open: (
      path: string,
      query: Query,
      headers: Readonly<Record<string, string>>,
    ) => Effect.Effect<ReadableStream<Uint8Array>, ApiFailure, Scope.Scope>
  }
>()("@billwright/cli/ApiClient") {
  /** The key comes from the environment, because every user of the machine can read command lines. */
  static readonly layer = (options: { readonly url: string }): Layer.Layer<ApiClient, Misconfigured> =>
    Layer.effect(
      ApiClient,
      Effect.gen(function* () {
        const key = yield* Effect.mapError(Config.option(Config.Redacted(KEY_VARIABLE)), explainConfig)
        if (Option.isNone(key) || Redacted.value(key.value).trim() === "") return yield* noKey
        if (!KEY.test(Redacted.value(key.value).trim())) return yield* notAKey
        return make(yield* baseOf(options.url), key.value)
      }),
    )
}

const noKey = new Misconfigured({
  message: `this command calls the API of a server: set the environment variable ${KEY_VARIABLE} to a key, sk_test_… or sk_live_…`,
})

const notAKey = new Misconfigured({
  message: `${KEY_VARIABLE} is not an API key: keys begin with sk_test_ or sk_live_, followed by letters and digits`,
})

const baseOf = (text: string): Effect.Effect<string, Misconfigured> => {
  const parsed = URL.parse(text)
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:"
  if (parsed !== null && isHttp && parsed.username === "" && parsed.password === "") {
    return Effect.succeed(parsed.href.replace(/\/+$/, ""))
  }
  // The message doesn't quote the text, which may contain a password.
  return Effect.fail(
    new Misconfigured({ message: `--url must be an address such as ${DEFAULT_URL}, without a password` }),
  )
}

const Problem = Schema.Struct({ field: Schema.String, problem: Schema.String })
const ErrorBody = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.String,
    message: Schema.String,
    problems: Schema.optionalKey(Schema.Array(Problem)),
  }),
)
const readError = Schema.decodeUnknownOption(ErrorBody)

const queryOf = (query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().flatMap((one): Array<[string, string]> => (one === undefined ? [] : [[name, one]])),
  )
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`
}

/** The cause of an error of `fetch`, because its own message is only "fetch failed". */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause, name } = error
  if (name === "TimeoutError") return `no answer within ${ANSWER_MILLIS / 1_000} s`
  if (!(cause instanceof Error)) return error.message
  const { code } = cause as { readonly code?: unknown }
  return typeof code === "string" ? code : cause.message
}

const make = (base: string, key: Redacted.Redacted<string>): ApiClient["Service"] => {
  const unreachable = (error: unknown) =>
    new ServerUnreachable({
      message: `${base} can't be reached (${reasonOf(error)}): is the server running? --url says where it is`,
    })

  const foreign = (status: number) =>
    new ServerUnreachable({ message: `${base} answered ${status}, but not as Billwright does: check --url` })

  const send = (path: string, init: RequestInit, signal: AbortSignal) =>
    Effect.tryPromise({
      try: () =>
        fetch(`${base}/v1${path}`, {
          ...init,
          headers: { ...init.headers, authorization: `Bearer ${Redacted.value(key).trim()}` },
          // Redirects are not followed: the key must not be sent to another server.
          redirect: "manual",
          signal,
        }),
      catch: unreachable,
    })

  const text = (response: Response) => Effect.tryPromise({ try: () => response.text(), catch: unreachable })

  const refusal = (status: number, body: string): ApiFailure =>
    Option.match(readError(body), {
      onNone: () => foreign(status),
      onSome: ({ error, message, problems = [] }) =>
        new ServerRefused({
          status,
          problems,
          message: `${message} (${status} ${error})${status === 401 ? `: check the key in ${KEY_VARIABLE}` : ""}`,
        }),
    })

  const request = Effect.fnUntraced(function* <A>(path: string, as: Reading<A>, init: RequestInit) {
    const response = yield* send(path, init, AbortSignal.timeout(ANSWER_MILLIS))
    const body = yield* text(response)
    if (!response.ok) return yield* refusal(response.status, body)
    const value = Schema.decodeUnknownOption(Schema.fromJsonString(as))(body)
    if (Option.isNone(value)) return yield* foreign(response.status)
    const answer: Answer<A> = { value: value.value, text: body }
    return answer
  })

  return ApiClient.of({
    get: (path, as, query = {}) => request(path + queryOf(query), as, {}),
    post: (path, as, body) => request(path, as, { method: "POST", body, headers: JSON_HEADERS }),
    patch: (path, as, body) => request(path, as, { method: "PATCH", body, headers: JSON_HEADERS }),
    delete: (path, as) => request(path, as, { method: "DELETE" }),
    file: Effect.fnUntraced(function* (path) {
      const response = yield* send(path, {}, AbortSignal.timeout(ANSWER_MILLIS))
      if (!response.ok) return yield* refusal(response.status, yield* text(response))
      const body = yield* Effect.tryPromise({ try: () => response.arrayBuffer(), catch: unreachable })
      return new Uint8Array(body)
    }),
    open: Effect.fnUntraced(function* (path, query, headers) {
      const controller = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (opened) => Effect.sync(() => opened.abort()),
      )
      const response = yield* send(path + queryOf(query), { headers }, controller.signal)
      if (response.ok && response.body !== null) return response.body
      return yield* refusal(response.status, yield* text(response))
    }),
  })
}
