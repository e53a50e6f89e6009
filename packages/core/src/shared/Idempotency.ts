/**
 * Requests that can be repeated safely: a request with the same key gets the same answer, and its work is done once.
 */
import { Context, DateTime, Effect, Layer, Option, Schedule, Schema } from "effect"
import { IdempotencyStore, type IdempotentRequest, type StoredResponse } from "./IdempotencyStore.ts"
import type { StorageError } from "./StorageError.ts"
import type { CurrentTenant } from "./Tenant.ts"

/** How long an answer is kept: 7 days. */
const DEFAULT_RETENTION_MILLIS = 7 * 86_400_000
/** Most rows that one sweep removes. */
const SWEEP_BATCH = 1000
/** How often expired rows are swept. */
const SWEEP_INTERVAL = "10 minutes"

/** The key was used before for a request with other content. Nothing was done. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()(
  "IdempotencyKeyReused",
  {},
  { httpApiStatus: 422 },
) {
  override get message(): string {
    return "the Idempotency-Key was already used for a request with other content"
  }
}

/** A request with the same key is still running. Try again in a moment. */
export class RequestInProgress extends Schema.TaggedError<RequestInProgress>()(
  "RequestInProgress",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return "a request with the same Idempotency-Key is still running"
  }
}

/** The request was carried out, and its answer was removed when the customer that it was about was erased. */
export class AnswerErased extends Schema.TaggedError<AnswerErased>()(
  "AnswerErased",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return "the request was carried out before, and its answer was removed because its customer was erased"
  }
}

type AnswerError = AnswerErased | IdempotencyKeyReused | RequestInProgress | StorageError

export interface IdempotencyOptions {
  /** How long an answer is kept, in milliseconds. Default 7 days. */
  readonly retentionMillis?: number
}

export interface IdempotentAnswer {
  readonly response: StoredResponse
  readonly isReplay: boolean
}

/**
 * `run` executes a request once for its key and stores the answer in the same transaction.
 *
 * `rejection` gives the answer for a failure. This answer is stored too; the changes of the failed run are undone.
 * `rejection` gives `none` for a failure that should not be stored, such as an outage of the storage. A repeat then
 * runs the request again.
 */
export class Idempotency extends Context.Service<
  Idempotency,
  {
    readonly run: <E, R>(
      request: IdempotentRequest,
      effect: Effect.Effect<StoredResponse, E, R>,
      rejection: (error: E) => Option.Option<StoredResponse>,
    ) => Effect.Effect<IdempotentAnswer, E | AnswerError, R | CurrentTenant>

    /** Removes up to 1000 expired answers and gives how many. The layer also runs it every 10 minutes. */
    readonly sweep: Effect.Effect<number, StorageError>
  }
>()("@billwright/core/shared/Idempotency") {
  static readonly layerWith = (options: IdempotencyOptions) =>
    Layer.effect(
      Idempotency,
      Effect.suspend(() => make(options)),
    )

  static readonly layer = Idempotency.layerWith({})
}

const make = Effect.fnUntraced(function* (options: IdempotencyOptions) {
  const store = yield* IdempotencyStore
  const retention = options.retentionMillis ?? DEFAULT_RETENTION_MILLIS

  const once = <E, R>(request: IdempotentRequest, effect: Effect.Effect<StoredResponse, E, R>) =>
    Effect.flatMap(DateTime.now, (now) =>
      store.once(request, { now, expiresAt: DateTime.add(now, { milliseconds: retention }) }, effect),
    ).pipe(
      Effect.flatMap((outcome): Effect.Effect<IdempotentAnswer, AnswerError> => {
        switch (outcome._tag) {
          case "Ran":
            return Effect.succeed({ response: outcome.response, isReplay: false })
          case "Replayed":
            return outcome.response.body === ""
              ? Effect.fail(new AnswerErased())
              : Effect.succeed({ response: outcome.response, isReplay: true })
          case "Reused":
            return Effect.fail(new IdempotencyKeyReused())
          case "Running":
            return Effect.fail(new RequestInProgress())
        }
      }),
    )

  const run = <E, R>(
    request: IdempotentRequest,
    effect: Effect.Effect<StoredResponse, E, R>,
    rejection: (error: E) => Option.Option<StoredResponse>,
  ) =>
    // Wraps the request's own failures, to tell them from failures of the store.
    once(
      request,
      Effect.mapError(effect, (error) => new Failed(error)),
    ).pipe(
      Effect.catch((error): Effect.Effect<IdempotentAnswer, E | AnswerError, CurrentTenant> => {
        if (!(error instanceof Failed)) return Effect.fail(error)
        return Option.match(rejection(error.error), {
          onNone: () => Effect.fail(error.error),
          onSome: (response) => once(request, Effect.succeed(response)),
        })
      }),
    )

  const sweep = Effect.flatMap(DateTime.now, (now) => store.sweep(now, SWEEP_BATCH))

  yield* Effect.forkScoped(
    sweep.pipe(
      Effect.catchCause((cause) => Effect.logWarning("expired idempotency keys were not swept", cause)),
      Effect.schedule(Schedule.spaced(SWEEP_INTERVAL)),
    ),
  )

  return Idempotency.of({ run, sweep })
})

class Failed<E> {
  readonly error: E
  constructor(error: E) {
    this.error = error
  }
}
