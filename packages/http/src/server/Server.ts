/**
 * The REST API, as a function from a request to its answer.
 *
 * The order of the checks is part of the contract. Under `/v1` the API key is checked first, then the path, the
 * method, the scope, the size, the body and the idempotency key. The operation runs last.
 */
import {
  Actor,
  ApiKey,
  ApiKeys,
  ApiKeyStore,
  CurrentActor,
  CurrentTenant,
  Endpoints,
  EndpointVerification,
  Events,
  Idempotency,
  IdempotencyStore,
  ShortTransaction,
  IdGenerator,
  InvalidInput,
  Keyring,
  OutageLog,
  Payment,
  type StoredResponse,
  subjectOfCustomer,
} from "@billwright/core"
import { Cause, Clock, Context, DateTime, Effect, Exit, Option } from "effect"
import { VERSION_PREFIX } from "../api/BillwrightApi.ts"
import { CUSTOMER_EXPORT_OPERATION } from "../api/CustomerExportApi.ts"
import * as AccountTurns from "./AccountTurns.ts"
import * as AuditExport from "./AuditExport.ts"
import * as Bearer from "./Bearer.ts"
import * as ClientOf from "./ClientOf.ts"
import * as CustomerExport from "./CustomerExport.ts"
import * as ErrorResponse from "./ErrorResponse.ts"
import * as EventStream from "./EventStream.ts"
import {
  type Answer,
  FileBody,
  type HttpRequest,
  type HttpResponse,
  MAX_TARGET_LENGTH,
} from "./HttpExchange.ts"
import { type Asked, HttpMetrics } from "./HttpMetrics.ts"
import * as IdempotentRequest from "./IdempotentRequest.ts"
import * as KeyCheck from "./KeyCheck.ts"
import * as MissingPermissions from "./MissingPermissions.ts"
import { IsRepeat, type Operation, type OperationInput } from "./Operation.ts"
import { make as makeOperations } from "./Operations.ts"
import * as ProviderNotices from "./ProviderNotices.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Reference from "./Reference.ts"
import * as RequestActor from "./RequestActor.ts"
import * as RequestBody from "./RequestBody.ts"
import * as Routes from "./Routes.ts"
import * as SealedAnswer from "./SealedAnswer.ts"
import type { StreamLimits } from "./StreamSlots.ts"

/** Limits for each account, its test mode included, in this process. */
export interface AccountLimits extends AccountTurns.TurnsOptions {
  /** A limit on its requests. Default: none. */
  readonly rateLimit?: RateLimit.RateLimitOptions
}

export interface ServerOptions {
  /** A limit on requests for each API key. Default: none. */
  readonly rateLimit?: RateLimit.RateLimitOptions
  /** Limits for each account, its test mode included. */
  readonly accounts?: AccountLimits
  /**
   * The networks of the host's own proxies, such as `["10.20.0.0/16"]`. The client's address is then read from
   * `x-forwarded-for`. Default: none, and the header is not read. Only keys with networks need the client's address.
   */
  readonly trustedProxies?: ReadonlyArray<string>
  /** Limits on the number of open streams of events. */
  readonly streams?: StreamLimits
}

/** Answers every request. It never fails. */
export type Server = (request: HttpRequest) => Effect.Effect<HttpResponse>

/** The services that the server needs. `ApiKeyStore` is used to check whether the storage answers. */
export type Requirements =
  | ApiKeys
  | ApiKeyStore
  | Events
  | IdGenerator
  | Idempotency
  | IdempotencyStore
  | Keyring
  | Effect.Services<typeof makeOperations>
  | Effect.Services<typeof ProviderNotices.make>

const REQUEST_ID_PREFIX = "req"
const JSON_TYPE = "application/json"
/** An id that no key has. Marking it as used makes the storage run a write that changes nothing. */
const NO_KEY = ApiKey.ApiKeyId.make(`${ApiKey.API_KEY_ID_PREFIX}_${"0".repeat(26)}`)

/** What is stored for a key while its request may attempt a payment, and afterwards. It is sent to nobody. */
const ATTEMPTED = JSON.stringify({ object: "attempt" })

const isVersioned = (path: string): boolean =>
  path === VERSION_PREFIX || path.startsWith(`${VERSION_PREFIX}/`)

const isWrite = (method: string): boolean => method === "POST" || method === "PATCH" || method === "DELETE"

/** Answers about usage have nothing that is not in the usage, which stays. There are many of them. */
const USAGE = "usage_record"

/** What an answer is about: the customer itself, or something of a customer. */
const subjectOf = ({ body, subject }: Answer): string | undefined => {
  const { customer_id: customerId, object } = body as {
    readonly customer_id?: unknown
    readonly object?: unknown
  }
  return (
    subject ??
    (typeof customerId === "string" && object !== USAGE ? subjectOfCustomer(customerId) : undefined)
  )
}

/** What is found out about a request. Refusals need it, too. */
interface Found extends Asked {
  /** The key that the request was sent with, once it is verified. */
  key: ApiKey.ApiKey | undefined
}

const toStored = (answer: Answer): StoredResponse => {
  const subject = subjectOf(answer)
  return {
    status: answer.status,
    body: JSON.stringify(answer.body),
    ...(subject === undefined ? {} : { subject }),
  }
}

/**
 * The answer to store for a failed request, if a repeat would fail in the same way. Not stored: errors of the
 * server, temporary errors, errors that its operator can fix by configuration, and what the key may not do at the moment.
 */
const toRejection = (error: ErrorResponse.ServerError): Option.Option<StoredResponse> => {
  // Says what is to be done first, and nothing of the request.
  if (error instanceof EndpointVerification.UnverifiedUrl) return Option.none()
  const { body, status } = ErrorResponse.fromError(error)
  const isOfRequest =
    status < 500 && status !== 403 && status !== 429 && error._tag !== "EncryptionKeyRequired"
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

/** Makes the server from the library's services. Fails with `InvalidInput` if one of `trustedProxies` is not a network. */
export const make = (options: ServerOptions = {}): Effect.Effect<Server, InvalidInput, Requirements> =>
  Effect.gen(function* () {
    const clientOf = yield* ClientOf.make(options.trustedProxies)
    const verifyOf = Bearer.make(yield* ApiKeys, clientOf)
    const keyStore = yield* ApiKeyStore
    const ids = yield* IdGenerator
    const idempotency = yield* Idempotency
    const answers = yield* IdempotencyStore
    const keyring = yield* Keyring
    const endpoints = yield* Endpoints
    const openExport = yield* AuditExport.make
    const openCustomerExport = yield* CustomerExport.makeOpen
    const openStream = yield* EventStream.make(options.streams)
    const pages = Reference.make((yield* Events).types)
    const operations = (yield* makeOperations) as unknown as Readonly<
      Record<string, Operation<OperationInput<unknown>> | undefined>
    >
    const receiveNotice = yield* ProviderNotices.make
    const limitRate = RateLimit.make(options.rateLimit, RateLimit.ofKey)
    const limitAccount = RateLimit.make(
      options.accounts?.rateLimit,
      (retryAfterSeconds) => new ErrorResponse.AccountRateLimited({ retryAfterSeconds }),
    )
    const turns = AccountTurns.make(options.accounts)
    const outage = OutageLog.make("requests are answered again")

    /** Runs an operation once for its idempotency key, and stores the answer. */
    const once = Effect.fnUntraced(function* <R>(
      { method, path }: HttpRequest,
      { isSecret }: Routes.Route,
      key: string,
      input: Routes.DecodedInput,
      run: Effect.Effect<Answer, ErrorResponse.ServerError, R>,
    ) {
      const fingerprint = yield* IdempotentRequest.fingerprint(input.query, input.payload)
      const context = SealedAnswer.contextOf(yield* CurrentTenant, method, path, key)
      // The transaction of the key ends with the operation.
      const stored = Effect.provideService(Effect.map(run, toStored), ShortTransaction, true)
      const { isReplay, response } = yield* idempotency.run(
        { method, path, key, fingerprint },
        isSecret ? Effect.flatMap(stored, SealedAnswer.seal(keyring, context)) : stored,
        toRejection,
      )
      return toResponse(isSecret ? yield* SealedAnswer.open(keyring, context, response) : response, isReplay)
    })

    /**
     * Frees the key of a request that has ended without an attempt, so that it can be sent again. If the storage can't do that,
     * the key stays, which is safe.
     */
    const freeKey = (requestId: string, exit: Exit.Exit<unknown, unknown>, progress: Payment.PayProgress) =>
      Exit.isSuccess(exit) || progress.mayBeStored ? Effect.void : Effect.ignore(answers.forget(requestId))

    /**
     * Runs an operation that attempts a payment. Its key is stored first, in a transaction of its own, because none may be open
     * while the provider is called. So a repeat attempts nothing, also after a crash, or while the first one still runs: it gets
     * things as they are.
     */
    const attemptOnce = Effect.fnUntraced(function* <R>(
      { method, path }: HttpRequest,
      key: string,
      requestId: string,
      input: Routes.DecodedInput,
      run: Effect.Effect<Answer, ErrorResponse.ServerError, R>,
    ) {
      const fingerprint = yield* IdempotentRequest.fingerprint(input.query, input.payload)
      const progress = { mayBeStored: false }
      // The id of this request is the subject, so that no request frees the key of another one.
      const storing = idempotency.run(
        { method, path, key, fingerprint },
        Effect.succeed({ status: 202, body: ATTEMPTED, subject: requestId }),
        Option.none,
      )
      const answering = Effect.flatMap(storing, ({ isReplay }) => {
        const answer = isReplay
          ? Effect.provideService(run, IsRepeat, true)
          : Effect.provideService(run, Payment.CurrentPayProgress, progress)
        return Effect.map(answer, (given) => toResponse(toStored(given), isReplay))
      })
      // The storage may fail, or the client leave, before there is an attempt.
      return yield* Effect.onExit(answering, (exit) => freeKey(requestId, exit, progress))
    })

    /**
     * Asks an endpoint outside of the transaction of the key, which must not wait for it, and then runs the operation again.
     * A repeat gets the stored answer and doesn't come here.
     */
    const verifyingUrl = <R>(answering: Effect.Effect<HttpResponse, ErrorResponse.ServerError, R>) =>
      Effect.catch(answering, (error) =>
        error instanceof EndpointVerification.UnverifiedUrl
          ? Effect.andThen(
              endpoints.verifyUrl(error.url),
              Effect.provideService(answering, EndpointVerification.VerifiedUrl, error.url),
            )
          : Effect.fail(error),
      )

    // Every request comes through here. Steps that don't wait return an `Exit`, so that the fiber doesn't yield.
    const versioned = Effect.fnUntraced(function* (
      request: HttpRequest,
      found: Found,
      requestId: string,
      now: number,
    ): Effect.fn.Return<HttpResponse, ErrorResponse.ServerError> {
      const verify = verifyOf(request)
      const verified = yield* verify
      const { key: apiKey, tenant } = verified
      found.key = apiKey
      turns.note(tenant.accountId, now)
      yield* limitRate(apiKey.id)
      yield* limitAccount(tenant.accountId)
      yield* checkTarget(request)
      const { params, route } = yield* Routes.match(request.method, request.path)
      found.operation = route.id
      yield* checkPermission(apiKey, route)
      const query = yield* route.decodeQuery(yield* Routes.parseQuery(request.query, route.repeated))
      const takingTurns: AccountTurns.Taking = route.isHeavyRead
        ? turns.taking(tenant.accountId)
        : (answering) => answering
      // Streams of events look at the key themselves, also while there is nothing to send.
      const whileKeyLives = (answer: HttpResponse) => KeyCheck.breakingOff(answer, verify, now)
      if (route.id === AuditExport.EXPORT_OPERATION) {
        const isBodiless = request.method === "HEAD"
        const opening = openExport({
          verified,
          query: query as AuditExport.ExportRequest["query"],
          isBodiless,
        })
        return whileKeyLives(yield* takingTurns(opening))
      }
      if (route.id === CUSTOMER_EXPORT_OPERATION) {
        const isBodiless = request.method === "HEAD"
        const opening = openCustomerExport({ verified, customerId: params["id"], isBodiless })
        return whileKeyLives(yield* takingTurns(opening))
      }
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
      const run = operation(input as unknown as OperationInput<unknown>, tenant, apiKey)
      const key = isWriting ? yield* IdempotentRequest.key(request.header("idempotency-key")) : undefined
      const answerFor = (key: string) =>
        route.attemptsPayment
          ? attemptOnce(request, key, requestId, input, run)
          : verifyingUrl(once(request, route, key, input, run))
      const isKeyed = route.attemptsPayment || !route.callsProvider
      const answering = takingTurns(
        key !== undefined && isKeyed ? answerFor(key) : Effect.map(run, toFreshResponse),
      )
      const ofTenant = Context.make(CurrentTenant, tenant)
      if (!isWriting) return whileKeyLives(yield* Effect.provideContext(answering, ofTenant))
      const who = RequestActor.whoOf(apiKey, verified.operator)
      const actor = RequestActor.make(who, request, clientOf, requestId)
      return yield* Effect.provideContext(answering, Context.add(ofTenant, CurrentActor, actor))
    })

    // Checked with a write, because a read-only Postgres, such as a standby, still answers reads.
    const isReady = DateTime.now.pipe(
      Effect.flatMap((now) => keyStore.touch(NO_KEY, now)),
      Effect.andThen(outage.worked),
      Effect.as(toResponse({ status: 200, body: OK_BODY }, false)),
    )

    /** The paths that need no API key. */
    const open = (
      request: HttpRequest,
      asked: Asked,
      requestId: string,
    ): Effect.Effect<HttpResponse, ErrorResponse.ServerError> =>
      Effect.suspend(() => {
        const page = pages[request.path]
        if (page !== undefined) {
          asked.operation = request.path.slice(1)
          return Reference.serve(request.method, page)
        }
        return Effect.gen(function* () {
          yield* checkTarget(request)
          const { params, route } = yield* Routes.match(request.method, request.path)
          asked.operation = route.id
          const query = yield* route.decodeQuery(yield* Routes.parseQuery(request.query, route.repeated))
          if (route.id === ProviderNotices.NOTICE_OPERATION) {
            const provider = Actor.provider(params["name"] ?? "")
            const actor = RequestActor.make(provider, request, clientOf, requestId)
            return yield* Effect.provideService(
              receiveNotice(request, params["name"], query as ProviderNotices.NoticeQuery),
              CurrentActor,
              actor,
            )
          }
          return route.id === "isReady" ? yield* isReady : toResponse({ status: 200, body: OK_BODY }, false)
        })
      })

    const metrics = new HttpMetrics()
    return (request) =>
      Effect.contextWith((context: Context.Context<never>) => {
        const clock = Context.get(context, Clock.Clock)
        const begin = clock.currentTimeMillisUnsafe()
        const requestId = ids.at(REQUEST_ID_PREFIX, begin)
        const found: Found = { operation: "none", key: undefined }
        const answer = (response: HttpResponse): Effect.Effect<HttpResponse> => {
          metrics.note(found, response.status, clock.currentTimeMillisUnsafe() - begin, context)
          return Effect.succeed(complete(response, requestId, request, found.key))
        }
        return Effect.matchCauseEffect(
          isVersioned(request.path)
            ? Effect.tap(versioned(request, found, requestId, begin), outage.worked)
            : open(request, found, requestId),
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

/** Turns a failure into an answer, and logs failures that an operator must know about. */
const refuse = (
  request: HttpRequest,
  requestId: string,
  cause: Cause.Cause<ErrorResponse.ServerError>,
  outage: OutageLog.OutageLog,
): Effect.Effect<HttpResponse> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  const error = Cause.findErrorOption(cause)
  const response = Option.match(error, {
    onNone: () => ErrorResponse.internalError(requestId),
    onSome: ErrorResponse.fromError,
  })
  const answer = Effect.succeed(response)
  if (response.status < 500) return answer
  const path = ErrorResponse.withoutSecrets(request.path)
  const sentence = `${request.method} ${path} was answered ${response.status}`
  const log = response.status === 503 ? outage.failed(sentence, cause) : Effect.logError(sentence, cause)
  return Effect.andThen(Effect.annotateLogs(log, { requestId }), answer)
}

const toFreshResponse = ({ body, status, ...answer }: Answer): HttpResponse => {
  if (!(body instanceof FileBody)) return toResponse(toStored({ body, status, ...answer }), false)
  const { content, headers } = body
  if (typeof content === "string") return { status, headers, body: content }
  if (content instanceof Uint8Array) return { status, headers, body: "", bytes: content }
  return { status, headers, body: "", stream: content }
}

/** Adds the headers that every answer has, and removes the body of an answer to HEAD. */
const complete = (
  response: HttpResponse,
  requestId: string,
  request: HttpRequest,
  key: ApiKey.ApiKey | undefined,
): HttpResponse => {
  const isBodiless = request.method === "HEAD"
  const { status } = response
  const headers = {
    "content-type": JSON_TYPE,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...response.headers,
    ...MissingPermissions.headersFor(request, key),
    "request-id": requestId,
  }
  return isBodiless ? { status, headers, body: "" } : { ...response, headers }
}
