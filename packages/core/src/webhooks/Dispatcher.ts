/**
 * The dispatcher: it claims deliveries that are due, makes their attempts, and writes the results.
 *
 * Any number of dispatchers can work on one storage, in any number of processes. They hold deliveries by leases. When a
 * process dies, others take its deliveries over once the leases end, or once the storage notices the death.
 *
 * Delivery is at least once: when a process dies after a receiver's answer and before the result is written, the same
 * event is sent again, with the same bytes.
 */
import { Clock, Context, DateTime, Effect, Fiber, FiberSet, Layer, Scope } from "effect"
import { lasting } from "../shared/Lasting.ts"
import * as OutageLog from "../shared/OutageLog.ts"
import * as Signal from "../shared/Signal.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { Tenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { type Claimed, DeliveryStore, MAX_CLAIM, type Places, type StandingOffer } from "./DeliveryStore.ts"
import { EndpointStore } from "./EndpointStore.ts"
import { REQUEST_ORIGIN } from "./EndpointVerification.ts"
import { Keyring } from "./Keyring.ts"
import * as LeasedDeliveries from "./LeasedDeliveries.ts"
import { DEFAULT_USER_AGENT } from "./RequestHeaders.ts"
import * as ResultWriter from "./ResultWriter.ts"
import * as RetryPolicy from "./RetryPolicy.ts"
import {
  DEFAULT_MAX_IN_FLIGHT,
  DEFAULT_MAX_IN_FLIGHT_PER_ENDPOINT,
  DEFAULT_MAX_STALLED,
  SenderLoad,
} from "./SenderLoad.ts"
import * as Signers from "./Signers.ts"
import { ATTEMPT_DEADLINE_MILLIS, WebhookTransport } from "./WebhookTransport.ts"

/** How long a worker leases a delivery: the deadline of an attempt (15 s), and the same time to write its result. */
export const LEASE_MILLIS = 30_000
/** How much longer a lease must be than an attempt, so that the delivery may wait for its place. */
const MIN_SPARE_MILLIS = 2_000
/** How often the storage is asked for due deliveries without a signal. */
export const POLL_MILLIS = 1_000
/** How long attempts under way may take to end when the dispatcher stops. */
const DRAIN_MILLIS = 4_000
/** How long the last results may take to be written after that. */
const LAST_WRITE_MILLIS = 900
/**
 * The pause between two writes of results. The first result is written at once, and those that follow in the pause are
 * written together, because one write of many results costs the storage much less than many writes.
 */
const WRITE_INTERVAL_MILLIS = 10
/** The pause after a write of many results, while they come fast. */
const BUSY_WRITE_INTERVAL_MILLIS = 25
/** From how many results on a write has many. */
const MANY_RESULTS = 24

export interface DispatcherOptions {
  /**
   * Most attempts under way in total. Attempts that have taken more than a second are not counted. A busy dispatcher leases up
   * to as many deliveries again, which wait for a place. Default 64.
   */
  readonly maxInFlight?: number
  /** Most attempts under way to one endpoint. Default 8. */
  readonly maxInFlightPerEndpoint?: number
  /** Most attempts under way that have stalled (taken more than a second), in total. Default 448. */
  readonly maxStalled?: number
  /** When failed attempts are repeated. Default: 10 attempts in 54 hours in live mode, 5 in 15 seconds in test mode. */
  readonly retries?: RetryPolicy.RetryPolicies
  /** The `user-agent` header of attempts. Default `Billwright-Webhooks/1`. */
  readonly userAgent?: string
  /**
   * The name of the sender, as endpoints were asked about it (`EndpointVerification`). It is sent with each attempt as
   * `webhook-request-origin`. Default: the header is not sent.
   */
  readonly requestOrigin?: string
  /**
   * How long a delivery is leased, in milliseconds. It must be longer than an attempt and the write of its result can
   * take. Otherwise another worker sends the event again in the meantime. A delivery may wait for a
   * place during half of what the lease is longer than an attempt. Default 30,000.
   */
  readonly leaseMillis?: number
  /** The transport's time limit for an attempt, in milliseconds, when it is not the default. Default 15,000. */
  readonly attemptDeadlineMillis?: number
}

export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    /**
     * Makes an attempt of every delivery that is due now or becomes due meanwhile, and waits until the results are
     * written. Gives how many deliveries it took. For tests, and for hosts that can't run work in the background.
     */
    readonly runDue: Effect.Effect<number, StorageError>
    /** How many attempts are under way. */
    readonly inFlight: Effect.Effect<number>
  }
>()("@billwright/core/webhooks/Dispatcher") {
  /**
   * Works in the background until the scope closes. Then it claims nothing more, gives back what waits for a place, and waits
   * up to 4 seconds for attempts under way. It interrupts the rest, records them as `unknown` and due at once, and writes the results.
   */
  static readonly layerWith = (options: DispatcherOptions) =>
    Layer.effect(
      Dispatcher,
      Effect.gen(function* () {
        const sending = yield* make(options)
        yield* work(sending)
        return Dispatcher.of(sending)
      }),
    )

  static readonly layer = Dispatcher.layerWith({})

  /** Does nothing in the background: it works only when `runDue` is called. */
  static readonly layerManual = (options: DispatcherOptions = {}) =>
    Layer.effect(
      Dispatcher,
      Effect.map(
        Effect.suspend(() => make(options)),
        (sending) => Dispatcher.of(sending),
      ),
    )
}

/** The parts of sending: claims, attempts and writes. The layers decide when they run. */
interface Sending {
  readonly runDue: Effect.Effect<number, StorageError>
  readonly inFlight: Effect.Effect<number>
  /** Claims as many deliveries as may be leased and begins their attempts. Gives whether more may be due. */
  readonly claim: Effect.Effect<boolean, StorageError>
  /** Begins what waits, and gives whether too few deliveries may be leased to make a claim. */
  readonly isBusy: Effect.Effect<boolean>
  /** Signals that deliveries may be due, or that a place has become free. */
  readonly awaken: Signal.Signal
  readonly due: Effect.Effect<Signal.Awaiting, never, Scope.Scope>
  /** Takes deliveries while they are published, until the scope closes. */
  readonly takePublished: Effect.Effect<void, never, Scope.Scope>
  readonly leased: LeasedDeliveries.LeasedDeliveries
  readonly writer: ResultWriter.ResultWriter
}

const attemptDeadlineOf = ({ attemptDeadlineMillis }: DispatcherOptions): number =>
  attemptDeadlineMillis ?? ATTEMPT_DEADLINE_MILLIS

/** Throws when the lease is not longer than an attempt may take: slow receivers would get every event several times. */
const leaseOf = (options: DispatcherOptions): number => {
  const lease = options.leaseMillis ?? LEASE_MILLIS
  const deadline = attemptDeadlineOf(options)
  if (Number.isSafeInteger(lease) && deadline > 0 && lease > deadline) return lease
  throw new TypeError(
    `leaseMillis (${lease}) must be longer than the ${deadline} ms that an attempt may take`,
  )
}

/** The headers by which the sender names itself. */
const senderHeadersOf = ({ requestOrigin, userAgent }: DispatcherOptions) => ({
  "user-agent": userAgent ?? DEFAULT_USER_AGENT,
  ...(requestOrigin === undefined ? {} : { [REQUEST_ORIGIN]: requestOrigin }),
})

const make = Effect.fnUntraced(function* (options: DispatcherOptions) {
  const store = yield* DeliveryStore
  const writer = yield* ResultWriter.make(store, yield* EndpointStore, yield* Transactor)
  const maxInFlight = options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT
  const limitPerEndpoint = options.maxInFlightPerEndpoint ?? DEFAULT_MAX_IN_FLIGHT_PER_ENDPOINT
  const leaseMillis = leaseOf(options)
  const attemptDeadlineMillis = attemptDeadlineOf(options)
  const spareMillis = leaseMillis - attemptDeadlineMillis
  const load = new SenderLoad({
    maxInFlight,
    maxInFlightPerEndpoint: limitPerEndpoint,
    maxAhead: spareMillis < MIN_SPARE_MILLIS ? 0 : maxInFlight,
    maxStalled: options.maxStalled ?? DEFAULT_MAX_STALLED,
  })
  const clock = yield* Clock.Clock
  const awaken = Signal.make()
  /** True when the last claim got as many deliveries as it asked for, and before the first claim. */
  let mayHaveMore = true
  /** How often deliveries were taken that publications leased. */
  let takings = 0
  const leased = yield* LeasedDeliveries.make({
    signers: Signers.make(yield* Keyring),
    transport: yield* WebhookTransport,
    writer,
    load,
    policies: options.retries ?? RetryPolicy.defaults,
    senderHeaders: senderHeadersOf(options),
    attemptDeadlineMillis,
    spareMillis,
    onEnd: (hasMore) => {
      if (mayHaveMore || hasMore) awaken.notify()
    },
  })

  const take = Effect.gen(function* () {
    const now = yield* DateTime.now
    const limit = Math.min(load.leasable(now.epochMilliseconds), MAX_CLAIM)
    if (leased.isClosed() || limit === 0) return 0
    const leaseUntil = DateTime.add(now, { milliseconds: leaseMillis })
    const room = load.room(now.epochMilliseconds)
    const before = takings
    const { limits, tenantLimits } = room
    const claimed = yield* store.claimDue({ now, leaseUntil, limit, limitPerEndpoint, limits, tenantLimits })
    load.claimed(claimed.deliveries, room)
    // What was taken while the claim was under way has places that the claim was for.
    yield* leased.start(claimed, leaseUntil, takings === before)
    const count = claimed.deliveries.length + claimed.unreadable.length
    mayHaveMore = count === limit
    return count
  })

  /** Begins what was leased by publications. Gives whether it may still begin. */
  const startHanded = (handed: Claimed, leaseUntil: DateTime.Utc): boolean => {
    const lastStart = leaseUntil.epochMilliseconds - attemptDeadlineMillis
    if (leased.isClosed() || clock.currentTimeMillisUnsafe() >= lastStart) return false
    if (handed.deliveries.length + handed.unreadable.length > 0) {
      takings++
      leased.startApart(handed, leaseUntil)
    }
    return true
  }

  /** Nothing is offered while more may be due than was claimed: that comes first. */
  const offer = Effect.fnUntraced(function* (tenant: Tenant, events: number) {
    const now = yield* DateTime.now
    const mayOffer = !mayHaveMore && !leased.isClosed()
    const offered = mayOffer ? load.offer(tenant, events, now.epochMilliseconds) : undefined
    if (offered === undefined) return undefined
    const leaseUntil = DateTime.add(now, { milliseconds: leaseMillis })
    const places: Places = {
      count: offered.places,
      full: offered.full,
      leaseUntil,
      take: (taken) => {
        load.takeBack(offered)
        return startHanded(taken, leaseUntil)
      },
    }
    return places
  })

  const standingOffer = Effect.map(DateTime.now, (now): StandingOffer | undefined => {
    if (mayHaveMore || leased.isClosed() || spareMillis < MIN_SPARE_MILLIS) return undefined
    const offered = load.standingOffer(now.epochMilliseconds)
    return offered === undefined ? undefined : { count: offered.places, full: offered.full, leaseMillis }
  })

  const takePublished = store.handTo({ offer, standingOffer, takeFromOthers: startHanded })

  const runDue = Effect.gen(function* () {
    let count = 0
    for (;;) {
      const taken = yield* Effect.uninterruptible(take)
      yield* FiberSet.awaitEmpty(leased.attempts)
      yield* writer.writeAll
      if (taken === 0) return count
      count += taken
    }
  }).pipe(Effect.withSpan("Dispatcher.runDue"))

  const sending: Sending = {
    runDue,
    inFlight: Effect.sync(() => load.inFlight),
    claim: Effect.map(Effect.uninterruptible(take), (count) => count > 0 && mayHaveMore),
    isBusy: Effect.gen(function* () {
      yield* leased.beginWaiting // attempts may have stalled
      const isBusy = load.isBusy(yield* Clock.currentTimeMillis)
      if (isBusy) mayHaveMore = true // so that the next attempt that ends wakes the claiming loop
      return isBusy
    }),
    awaken,
    due: store.due,
    takePublished,
    leased,
    writer,
  }
  return sending
})

/** Runs the sending in the background, and stops it in order when the scope closes. */
const work = Effect.fnUntraced(function* (sending: Sending) {
  const { awaken, claim, isBusy, leased, writer } = sending
  const awakened = yield* awaken.subscribe
  const due = yield* sending.due
  const resultsTaken = yield* writer.taken.subscribe

  const outage = OutageLog.make("webhook deliveries can be claimed again")
  const round = Effect.gen(function* () {
    if (!(yield* isBusy)) {
      const mayHaveMore = yield* claim
      yield* outage.worked
      if (mayHaveMore) return
    }
    yield* awakened
  })
  const problem = "webhook deliveries can't be claimed"
  const lastingRound = lasting(round, { outage, problem, pauseMillis: POLL_MILLIS })
  // Not forked in the scope, which would wait for a claim that the storage never answers. The finalizer ends it. It yields between
  // rounds, so that no claim is made within the call that has signalled, such as a publication.
  const claiming = yield* Effect.forkDetach(Effect.forever(lastingRound))
  // A timer of its own: one for each wait would have to be set and cleared for each signal.
  const polling = Effect.andThen(Effect.sleep(POLL_MILLIS), Effect.sync(awaken.notify))
  yield* Effect.forkScoped(Effect.forever(polling))
  yield* Effect.forkScoped(Effect.forever(Effect.tap(due, () => Effect.sync(awaken.notify))))
  const writing = Effect.andThen(resultsTaken, writer.writeWaiting)
  const pausing = (written: number) =>
    Effect.sleep(written < MANY_RESULTS ? WRITE_INTERVAL_MILLIS : BUSY_WRITE_INTERVAL_MILLIS)
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(writing, pausing)))

  /** Ends beside the attempts that are under way, because the storage may take its time. */
  const published = yield* Scope.fork(yield* Effect.scope)
  yield* Effect.addFinalizer((exit) =>
    Effect.gen(function* () {
      yield* leased.close
      // Detached, so that it ends also when that takes longer.
      const closing = yield* Effect.forkDetach(Effect.uninterruptible(Scope.close(published, exit)), {
        startImmediately: true,
      })
      const ended = Effect.all(
        [Fiber.await(closing), Fiber.interrupt(claiming), FiberSet.awaitEmpty(leased.attempts)],
        { concurrency: "unbounded", discard: true },
      )
      yield* Effect.timeoutOption(ended, DRAIN_MILLIS)
      yield* FiberSet.clear(leased.attempts)
      yield* Effect.timeoutOption(writer.writeAll, LAST_WRITE_MILLIS)
    }),
  )
  yield* Scope.provide(sending.takePublished, published)
})
