/**
 * Calls of Stripe by the host's client.
 */
import { Effect } from "effect"
import type { Stripe } from "stripe"
import { makeRateLimit } from "./RateLimit.ts"
import { refusalOf, type StripeRefusal, TOO_BUSY } from "./StripeRefusal.ts"

/** How long one call may take, in milliseconds. An attempt makes two, within the time that a provider has. */
const CALL_MILLIS = 25_000
/** Longest idempotency key of Stripe, in characters. */
const MAX_KEY_LENGTH = 255

/** How calls are made. */
export interface StripeCallOptions {
  readonly client: Stripe
  /** Calls a second, from 1. */
  readonly requestsPerSecond: number
  /** The connected account that calls act for. `null`: the client's own. */
  readonly account: string | null
}

/** Makes calls, at a rate, and says how they fail. */
export class StripeCalls {
  readonly #options: StripeCallOptions
  readonly #turn: Effect.Effect<void, StripeRefusal>
  readonly #underWay = new Map<string, Promise<unknown>>()

  constructor(options: StripeCallOptions) {
    this.#options = options
    this.#turn = makeRateLimit(options.requestsPerSecond, TOO_BUSY)
  }

  /** A call that changes nothing, or that may be repeated as often as one likes. */
  send<A>(
    call: (client: Stripe, options: Stripe.RequestOptions) => Promise<A>,
  ): Effect.Effect<A, StripeRefusal> {
    return this.#make(() => call(this.#options.client, this.#with({})))
  }

  /**
   * A call that counts once, with a key of one of our rows. Calls with the same key that are made at once are one call:
   * Stripe would refuse the others as long as the first one is under way.
   */
  sendOnce<A>(
    key: string,
    call: (client: Stripe, options: Stripe.RequestOptions) => Promise<A>,
  ): Effect.Effect<A, StripeRefusal> {
    const idempotencyKey = `billwright:${key}`.slice(0, MAX_KEY_LENGTH)
    return this.#make(() => {
      const running = this.#underWay.get(idempotencyKey) as Promise<A> | undefined
      if (running !== undefined) return running
      const started = call(this.#options.client, this.#with({ idempotencyKey })).finally(() =>
        this.#underWay.delete(idempotencyKey),
      )
      this.#underWay.set(idempotencyKey, started)
      return started
    })
  }

  #make<A>(call: () => Promise<A>): Effect.Effect<A, StripeRefusal> {
    return Effect.andThen(this.#turn, Effect.tryPromise({ try: call, catch: refusalOf }))
  }

  #with(options: Stripe.RequestOptions): Stripe.RequestOptions {
    const { account } = this.#options
    return {
      ...options,
      maxNetworkRetries: 0,
      timeout: CALL_MILLIS,
      ...(account !== null && { stripeAccount: account }),
    }
  }
}

/** `null` instead of an object that is not there. */
export const orMissing = <A>(call: Effect.Effect<A, StripeRefusal>): Effect.Effect<A | null, StripeRefusal> =>
  Effect.catchTag(call, "StripeRefusal", (refusal) =>
    refusal.status === 404 ? Effect.succeed(null) : Effect.fail(refusal),
  )

/** The failure of the port. */
export const orFail = <A>(call: Effect.Effect<A, StripeRefusal>) =>
  Effect.mapError(call, ({ failure }) => failure)
