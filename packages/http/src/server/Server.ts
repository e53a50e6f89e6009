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
  type Customers,
  Idempotency,
  IdGenerator,
  InvalidInput,
  type StoredResponse,
  type Thresholds,
  type Usage,
  type VerifiedApiKey,
} from "@billwright/core"
import { Cause, Effect, Exit, Option, Redacted } from "effect"
import { VERSION_PREFIX } from "../api/BillwrightApi.ts"
import * as ErrorAnswer from "./ErrorAnswer.ts"
import { type Answer, type HttpRequest, type HttpResponse, MAX_TARGET_LENGTH } from "./HttpExchange.ts"
import * as IdempotentRequest from "./IdempotentRequest.ts"
import { type Operation, type OperationInput, make as makeOperations } from "./Operations.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Reference from "./Reference.ts"
import * as RequestBody from "./RequestBody.ts"
import * as Routes from "./Routes.ts"

export interface ServerOptions {
  /** A limit on requests for each API key. Default: none. */
  readonly rateLimit?: RateLimit.RateLimitOptions
}

/** Answers every request; never fails. */
export type Server = (request: HttpRequest) => Effect.Effect<HttpResponse>

/** What the server needs of the library. `ApiKeyStore` is asked whether the storage answers. */
export type Requirements = ApiKeys | ApiKeyStore | Customers | IdGenerator | Idempotency | Thresholds | Usage

const REQUEST_ID_PREFIX = "req"
const JSON_TYPE = "application/json"
/** A digest that no key has: looking it up asks the storage without finding anything. */
const NO_KEY = "0".repeat(64)

const isVersioned = (path: string): boolean =>
  path === VERSION_PREFIX || path.startsWith(`${VERSION_PREFIX}/`)

const isWrite = (method: string): boolean => method === "POST" || method === "PATCH" || method === "DELETE"

const toStored = ({ body, ...answer }: Answer): StoredResponse => ({ ...answer, body: JSON.stringify(body) })

/** An answer that a repeat of the request would get again: neither a fault of ours nor of the moment. */
const toRejection = (error: ErrorAnswer.ServerError): Option.Option<StoredResponse> => {
  const { body, status } = ErrorAnswer.fromError(error)
  return status < 500 && status !== 429 ? Option.some({ status, body }) : Option.none()
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

const bearer = (header: string | undefined): Redacted.Redacted<string> | undefined => {
  const match = header === undefined ? null : /^Bearer +(\S+) *$/i.exec(header)
  return match?.[1] === undefined ? undefined : Redacted.make(match[1])
}

/** Makes the server from the library's services. */
export const make = (options: ServerOptions = {}): Effect.Effect<Server, never, Requirements> =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const keyStore = yield* ApiKeyStore
    const ids = yield* IdGenerator
    const idempotency = yield* Idempotency
    const operations = (yield* makeOperations) as unknown as Readonly<
      Record<string, Operation<OperationInput<unknown>> | undefined>
    >
    const limitRate = RateLimit.make(options.rateLimit)

    const authenticate = (request: HttpRequest) => {
      const secret = bearer(request.header("authorization"))
      return secret === undefined ? Effect.fail(new ApiKey.Unauthorized()) : keys.verify(secret)
    }

    /** Reads query and body by the definitions of the route. */
    const decode = Effect.fnUntraced(function* (request: HttpRequest, { params, route }: Routes.Match) {
      const query = yield* route.decodeQuery(yield* Routes.parseQuery(request.query))
      if (!isWrite(route.method)) return { params, query, payload: undefined }
      const json = yield* RequestBody.read(request)
      return { params, query, payload: yield* route.decodeBody(json) }
    })

    const perform = Effect.fnUntraced(function* (
      request: HttpRequest,
      match: Routes.Match,
      verified: VerifiedApiKey,
    ): Effect.fn.Return<HttpResponse, ErrorAnswer.ServerError> {
      const { route } = match
      const input = yield* decode(request, match)
      const operation = operations[route.id]
      if (operation === undefined) return yield* Effect.die(new Error(`no operation ${route.id}`))
      const run = Effect.provideService(
        Effect.suspend(() => operation(input as OperationInput<unknown>, verified.tenant)),
        CurrentTenant,
        verified.tenant,
      )
      const key = isWrite(route.method)
        ? yield* IdempotentRequest.key(request.header("idempotency-key"))
        : undefined
      if (key === undefined) return toResponse(toStored(yield* run), false)
      const fingerprint = yield* IdempotentRequest.fingerprint(input.query, input.payload)
      const answer = yield* Effect.provideService(
        idempotency.run(
          { method: route.method, path: request.path, key, fingerprint },
          Effect.map(run, toStored),
          toRejection,
        ),
        CurrentTenant,
        verified.tenant,
      )
      return toResponse(answer.response, answer.isReplay)
    })

    const versioned = Effect.fnUntraced(function* (request: HttpRequest) {
      const verified = yield* authenticate(request)
      yield* limitRate(verified.key.id)
      yield* checkTarget(request)
      const match = yield* Routes.match(request.method, request.path)
      const { permission } = match.route
      if (permission === undefined || !ApiKey.permits(verified.key.scopes, permission)) {
        return yield* new ApiKey.Forbidden({ permission: permission ?? "of another kind" })
      }
      return yield* perform(request, match, verified)
    })

    const isReady = Effect.as(
      keyStore.findByDigest(NO_KEY),
      toResponse({ status: 200, body: OK_BODY }, false),
    )

    /** What can be had without a key. */
    const open = (request: HttpRequest): Effect.Effect<HttpResponse, ErrorAnswer.ServerError> =>
      Effect.suspend(() => {
        const page = Reference.pages[request.path]
        if (page !== undefined) return Reference.serve(request.method, page)
        return Effect.gen(function* () {
          const { route } = yield* Routes.match(request.method, request.path)
          yield* route.decodeQuery(yield* Routes.parseQuery(request.query))
          return route.id === "isReady" ? yield* isReady : toResponse({ status: 200, body: OK_BODY }, false)
        })
      })

    return (request) =>
      Effect.flatMap(ids.next(REQUEST_ID_PREFIX), (requestId) =>
        Effect.map(Effect.exit(isVersioned(request.path) ? versioned(request) : open(request)), (exit) =>
          finish(request, requestId, exit),
        ).pipe(Effect.flatten),
      )
  })

const OK_BODY = JSON.stringify({ status: "ok" })

const toResponse = (stored: StoredResponse, isReplay: boolean): HttpResponse => ({
  status: stored.status,
  headers: isReplay ? { "idempotent-replayed": "true" } : {},
  body: stored.body,
})

/** Turns what came out into the answer that is sent, and logs what an operator must know. */
const finish = (
  request: HttpRequest,
  requestId: string,
  exit: Exit.Exit<HttpResponse, ErrorAnswer.ServerError>,
): Effect.Effect<HttpResponse> => {
  if (Exit.isSuccess(exit)) return Effect.succeed(complete(exit.value, requestId, request.method))
  if (Cause.hasInterruptsOnly(exit.cause)) return Effect.interrupt
  const error = Cause.findErrorOption(exit.cause)
  const response = Option.match(error, {
    onNone: () => ErrorAnswer.internalError(requestId),
    onSome: ErrorAnswer.fromError,
  })
  const answer = Effect.succeed(complete(response, requestId, request.method))
  if (response.status < 500) return answer
  const path = ErrorAnswer.withoutSecrets(request.path)
  const log = Effect.logError(`${request.method} ${path} was answered ${response.status}`, exit.cause)
  return Effect.andThen(Effect.annotateLogs(log, { requestId }), answer)
}

/** The headers that every answer has. */
const complete = (response: HttpResponse, requestId: string, method: string): HttpResponse => ({
  status: response.status,
  headers: {
    "content-type": JSON_TYPE,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...response.headers,
    "request-id": requestId,
  },
  body: method === "HEAD" ? "" : response.body,
})
