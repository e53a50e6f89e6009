/**
 * The REST API as a function from a request to its answer.
 *
 * The order of the checks is part of the contract: under `/v1` a key comes before everything else, then the
 * path, the method, the scope, the size, the body, the idempotency key, and last the operation.
 */
import {
  ApiKey,
  ApiKeys,
  ApiKeyStore,
  CurrentTenant,
  Events,
  Idempotency,
  IdGenerator,
  InvalidInput,
  Keyring,
  OutageLog,
  type StoredResponse,
} from "@billwright/core"
import { Cause, Clock, Context, DateTime, Effect, Option } from "effect"
import { VERSION_PREFIX } from "../api/BillwrightApi.ts"
import * as Bearer from "./Bearer.ts"
import * as ErrorAnswer from "./ErrorAnswer.ts"
import * as EventStream from "./EventStream.ts"
import { type Answer, type HttpRequest, type HttpResponse, MAX_TARGET_LENGTH } from "./HttpExchange.ts"
import { type Asked, HttpMetrics } from "./HttpMetrics.ts"
import * as IdempotentRequest from "./IdempotentRequest.ts"
import type { Operation, OperationInput } from "./Operation.ts"
import { make as makeOperations } from "./Operations.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Reference from "./Reference.ts"
import * as RequestBody from "./RequestBody.ts"
import * as Routes from "./Routes.ts"
import * as SealedAnswer from "./SealedAnswer.ts"
import type { StreamLimits } from "./StreamSlots.ts"

export interface ServerOptions {
  /** A limit on requests for each API key. Default: none. */
  readonly rateLimit?: RateLimit.RateLimitOptions
  /** How many streams of events may be open at once. */
  readonly streams?: StreamLimits
}

/** Answers every request; never fails. */
export type Server = (request: HttpRequest) => Effect.Effect<HttpResponse>

/** What the server needs of the library. `ApiKeyStore` is asked whether the storage answers. */
export type Requirements =
  | ApiKeys
  | ApiKeyStore
  | Events
  | IdGenerator
  | Idempotency
  | Keyring
  | Effect.Services<typeof makeOperations>

const REQUEST_ID_PREFIX = "req"
const JSON_TYPE = "application/json"
/** The id of no key: noting its use asks the storage to write, and writes nothing. */
const NO_KEY = ApiKey.ApiKeyId.make(`${ApiKey.API_KEY_ID_PREFIX}_${"0".repeat(26)}`)

const isVersioned = (path: string): boolean =>
  path === VERSION_PREFIX || path.startsWith(`${VERSION_PREFIX}/`)

const isWrite = (method: string): boolean => method === "POST" || method === "PATCH" || method === "DELETE"

const toStored = ({ body, ...answer }: Answer): StoredResponse => ({ ...answer, body: JSON.stringify(body) })

/**
 * An answer that a repeat of the request would get again: neither a fault of ours nor of the moment, nor of how this
 * server was set up, which its operator is to put right.
 */
const toRejection = (error: ErrorAnswer.ServerError): Option.Option<StoredResponse> => {
  const { body, status } = ErrorAnswer.fromError(error)
  const isOfRequest = status < 500 && status !== 429 && error._tag !== "EncryptionKeyRequired"
  return isOfRequest ? Option.some({ status, body }) : Option.none()
}

const checkTarget = ({ path, query }: HttpRequest): Effect.Effect<void, InvalidInput> =>
  path.length + query.length <= MAX_TARGET_LENGTH
    ? Effect.void
    : Effect.fail(
        new InvalidInput({
          field: "the address",
          problem: `must have at most ${MAX_TARGET_LENGTH} characters`,
        }),
      )

const checkPermission = (key: ApiKey.ApiKey, route: Routes.Route): Effect.Effect<void, ApiKey.Forbidden> =>
  route.permission !== undefined && ApiKey.permits(key.scopes, route.permission)
    ? Effect.void
    : Effect.fail(new ApiKey.Forbidden({ permission: route.permission ?? "of another kind" }))

/** Makes the server from the library's services. */
export const make = (options: ServerOptions = {}): Effect.Effect<Server, never, Requirements> =>
  Effect.gen(function* () {
    const verifyOf = Bearer.make(yield* ApiKeys)
    const keyStore = yield* ApiKeyStore
    const ids = yield* IdGenerator
    const idempotency = yield* Idempotency
    const keyring = yield* Keyring
    const openStream = yield* EventStream.make(options.streams)
    const pages = Reference.make((yield* Events).types)
    const operations = (yield* makeOperations) as unknown as Readonly<
      Record<string, Operation<OperationInput<unknown>> | undefined>
    >
    const limitRate = RateLimit.make(options.rateLimit)
    const outage = OutageLog.make("requests are answered again")

    /** Runs an operation once for the key of its request, and remembers the answer. */
    const once = Effect.fnUntraced(function* <R>(
      { method, path }: HttpRequest,
      { isSecret }: Routes.Route,
      key: string,
      input: Routes.DecodedInput,
      run: Effect.Effect<Answer, ErrorAnswer.ServerError, R>,
    ) {
      const fingerprint = yield* IdempotentRequest.fingerprint(input.query, input.payload)
      const context = SealedAnswer.contextOf(yield* CurrentTenant, method, path, key)
      const stored = Effect.map(run, toStored)
      const { isReplay, response } = yield* idempotency.run(
        { method, path, key, fingerprint },
        isSecret ? Effect.flatMap(stored, SealedAnswer.seal(keyring, context)) : stored,
        toRejection,
      )
      return toResponse(isSecret ? yield* SealedAnswer.open(keyring, context, response) : response, isReplay)
    })

    // Every request comes through here. Steps that don't wait give an `Exit`, which costs the fiber no turn.
    const versioned = Effect.fnUntraced(function* (
      request: HttpRequest,
      asked: Asked,
    ): Effect.fn.Return<HttpResponse, ErrorAnswer.ServerError> {
      const verify = verifyOf(request)
      const verified = yield* verify
      const { key: apiKey, tenant } = verified
      yield* limitRate(apiKey.id)
      yield* checkTarget(request)
      const { params, route } = yield* Routes.match(request.method, request.path)
      asked.operation = route.id
      yield* checkPermission(apiKey, route)
      const query = yield* route.decodeQuery(yield* Routes.parseQuery(request.query))
      if (route.id === EventStream.STREAM_OPERATION) {
        return yield* openStream({
          verified,
          verify,
          query: query as EventStream.StreamRequest["query"],
          lastEventId: request.header("last-event-id"),
          isBodiless: request.method === "HEAD",
        })
      }
      const isWriting = isWrite(route.method)
      let payload: unknown
      if (isWriting) {
        yield* RequestBody.checkHeaders(request)
        payload = yield* route.decodeBody(yield* RequestBody.parse(yield* request.body))
      }
      const operation = operations[route.id]
      if (operation === undefined) return yield* Effect.die(new Error(`no operation ${route.id}`))
      const input = { params, query, payload }
      const run = operation(input as unknown as OperationInput<unknown>, tenant)
      const key = isWriting ? yield* IdempotentRequest.key(request.header("idempotency-key")) : undefined
      return yield* Effect.provideService(
        key === undefined ? Effect.map(run, toFreshResponse) : once(request, route, key, input, run),
        CurrentTenant,
        tenant,
      )
    })

    // By a write: a Postgres that takes none (a standby, or one set to read-only) answers reads all the same.
    const isReady = DateTime.now.pipe(
      Effect.flatMap((now) => keyStore.touch(NO_KEY, now)),
      Effect.andThen(outage.worked),
      Effect.as(toResponse({ status: 200, body: OK_BODY }, false)),
    )

    /** What can be had without a key. */
    const open = (request: HttpRequest, asked: Asked): Effect.Effect<HttpResponse, ErrorAnswer.ServerError> =>
      Effect.suspend(() => {
        const page = pages[request.path]
        if (page !== undefined) {
          asked.operation = request.path.slice(1)
          return Reference.serve(request.method, page)
        }
        return Effect.gen(function* () {
          const { route } = yield* Routes.match(request.method, request.path)
          asked.operation = route.id
          yield* route.decodeQuery(yield* Routes.parseQuery(request.query))
          return route.id === "isReady" ? yield* isReady : toResponse({ status: 200, body: OK_BODY }, false)
        })
      })

    const metrics = new HttpMetrics()
    return (request) =>
      Effect.contextWith((context: Context.Context<never>) => {
        const clock = Context.get(context, Clock.Clock)
        const begin = clock.currentTimeMillisUnsafe()
        const requestId = ids.at(REQUEST_ID_PREFIX, begin)
        const asked: Asked = { operation: "none" }
        const answer = (response: HttpResponse): Effect.Effect<HttpResponse> => {
          metrics.note(asked, response.status, clock.currentTimeMillisUnsafe() - begin, context)
          return Effect.succeed(complete(response, requestId, request.method))
        }
        return Effect.matchCauseEffect(
          isVersioned(request.path)
            ? Effect.tap(versioned(request, asked), outage.worked)
            : open(request, asked),
          {
            onSuccess: answer,
            onFailure: (cause) => Effect.flatMap(refuse(request, requestId, cause, outage), answer),
          },
        )
      })
  })

const OK_BODY = JSON.stringify({ status: "ok" })

const toResponse = (stored: StoredResponse, isReplay: boolean): HttpResponse => ({
  status: stored.status,
  headers: isReplay ? { "idempotent-replayed": "true" } : {},
  body: stored.body,
})

/** Turns a failure into the answer that is sent, and logs what an operator must know. */
const refuse = (
  request: HttpRequest,
  requestId: string,
  cause: Cause.Cause<ErrorAnswer.ServerError>,
  outage: OutageLog.OutageLog,
): Effect.Effect<HttpResponse> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  const error = Cause.findErrorOption(cause)
  const response = Option.match(error, {
    onNone: () => ErrorAnswer.internalError(requestId),
    onSome: ErrorAnswer.fromError,
  })
  const answer = Effect.succeed(response)
  if (response.status < 500) return answer
  const path = ErrorAnswer.withoutSecrets(request.path)
  const sentence = `${request.method} ${path} was answered ${response.status}`
  const log = response.status === 503 ? outage.failed(sentence, cause) : Effect.logError(sentence, cause)
  return Effect.andThen(Effect.annotateLogs(log, { requestId }), answer)
}

const toFreshResponse = (answer: Answer): HttpResponse => toResponse(toStored(answer), false)

/** Adds the headers that every answer has, and takes the body of an answer to HEAD away. */
const complete = (response: HttpResponse, requestId: string, method: string): HttpResponse => {
  const isBodiless = method === "HEAD"
  const { status, stream } = response
  const headers = {
    "content-type": JSON_TYPE,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...response.headers,
    "request-id": requestId,
  }
  const body = isBodiless ? "" : response.body
  return stream === undefined || isBodiless ? { status, headers, body } : { status, headers, body, stream }
}
