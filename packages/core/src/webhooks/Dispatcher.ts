/**
 * The dispatcher: it claims deliveries that are due, makes their attempts, and writes the results.
 *
 * Any number of dispatchers can work on one storage, in any number of processes. They hold deliveries by leases. When a
 * process dies, others take its deliveries over once the leases end, or once the storage notices the death.
 *
 * Delivery is at least once: when a process dies after a receiver's answer and before the result is written, the same
 * event is sent again, with the same bytes.
 */
import {
  Clock,
  Context,
  DateTime,
  Effect,
  Exit,
  Fiber,
  FiberSet,
  Layer,
  Metric,
  Random,
  type Scope,
} from "effect"
import * as OutageLog from "../shared/OutageLog.ts"
import * as Signal from "../shared/Signal.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { Tenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { type Attempt, isEndpointsFailure, lostAttempt } from "./Delivery.ts"
import * as DeliveryAttempt from "./DeliveryAttempt.ts"
import { type DeliveryEvent, type DeliveryState, disables, next } from "./DeliveryMachine.ts"
import {
  type Claimed,
  type ClaimedDelivery,
  DeliveryStore,
  MAX_CLAIM,
  type Places,
  type UnreadableDelivery,
} from "./DeliveryStore.ts"
import { EndpointStore } from "./EndpointStore.ts"
import { REQUEST_ORIGIN } from "./EndpointVerification.ts"
import { Keyring } from "./Keyring.ts"
import { DEFAULT_USER_AGENT } from "./RequestHeaders.ts"
import * as ResultWriter from "./ResultWriter.ts"
import * as RetryPolicy from "./RetryPolicy.ts"
import {
  DEFAULT_MAX_IN_FLIGHT,
  DEFAULT_MAX_IN_FLIGHT_PER_ENDPOINT,
  DEFAULT_MAX_STALLED,
  SenderLoad,
  type Slot,
  type Turn,
} from "./SenderLoad.ts"
import * as Signers from "./Signers.ts"
import { ATTEMPT_DEADLINE_MILLIS, WebhookTransport } from "./WebhookTransport.ts"

/** How long a worker leases a delivery: the deadline of an attempt (15 s), and the same time to write its result. */
export const LEASE_MILLIS = 30_000
/** How much longer a lease must be than an attempt, so that the delivery may wait for its place. */
const MIN_SPARE_MILLIS = 2_000
/** How often the storage is asked for due deliveries when there was no signal. */
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

const attempted = Metric.counter("billwright_webhook_attempts", {
  description: "Webhook attempts that ended, by outcome.",
  incremental: true,
})
const attemptsOf = {
  Succeeded: Metric.withAttributes(attempted, { outcome: "succeeded" }),
  Gone: Metric.withAttributes(attempted, { outcome: "gone" }),
  AttemptFailed: Metric.withAttributes(attempted, { outcome: "failed" }),
  Lost: Metric.withAttributes(attempted, { outcome: "unknown" }),
}
const underWay = Metric.gauge("billwright_webhook_attempts_under_way", {
  description: "Webhook attempts that are under way in this process.",
})

/** A delivery that was leased, until its attempt begins. `leaseUntil`: in epoch milliseconds. */
interface Waiting {
  readonly claimed: ClaimedDelivery
  /** Whether it found no place when the claim that leased it ended. */
  hasWaited: boolean
  readonly leaseUntil: number
  readonly slot: Slot
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
  /** Takes deliveries that this process publishes, until the scope closes. */
  readonly takePublished: Effect.Effect<void, never, Scope.Scope>
  /** Gives back all deliveries that wait for a place. No others wait after the end of `takePublished`. */
  readonly releaseWaiting: Effect.Effect<void>
  readonly writer: ResultWriter.ResultWriter
  readonly attempts: FiberSet.FiberSet<void>
}

/** What attempts take from the fiber that begins them, once for many. In tests it may have other clocks than the layer. */
interface Surroundings {
  readonly clock: Clock.Clock
  readonly random: Random.Random
  readonly context: Context.Context<never>
}

const currentSurroundings: Effect.Effect<Surroundings> = Effect.withFiber((fiber) =>
  Effect.succeed({
    clock: fiber.getRef(Clock.Clock),
    random: fiber.getRef(Random.Random),
    context: fiber.context,
  }),
)

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
  const transport = yield* WebhookTransport
  const signers = Signers.make(yield* Keyring)
  const writer = yield* ResultWriter.make(store, yield* EndpointStore, yield* Transactor)
  const policies = options.retries ?? RetryPolicy.defaults
  const senderHeaders = senderHeadersOf(options)
  const maxInFlight = options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT
  const limitPerEndpoint = options.maxInFlightPerEndpoint ?? DEFAULT_MAX_IN_FLIGHT_PER_ENDPOINT
  const leaseMillis = leaseOf(options)
  const attemptDeadline = attemptDeadlineOf(options)
  const spareMillis = leaseMillis - attemptDeadline
  const load = new SenderLoad({
    maxInFlight,
    maxInFlightPerEndpoint: limitPerEndpoint,
    maxAhead: spareMillis < MIN_SPARE_MILLIS ? 0 : maxInFlight,
    maxStalled: options.maxStalled ?? DEFAULT_MAX_STALLED,
  })
  const attempts = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(attempts)()
  const clock = yield* Clock.Clock
  const awaken = Signal.make()
  /** Deliveries that were leased and wait for their place, in the order of their turns. */
  const waiting: Array<Waiting> = []
  /** True while `beginWaiting` runs. */
  let isBeginning = false
  /** True when the last claim got as many deliveries as it asked for, and before the first claim. */
  let mayHaveMore = true
  /** How often deliveries were taken that this process published. */
  let takings = 0
  /** True when the dispatcher stops. No attempt begins any more. */
  let isClosed = false
  const close = () => {
    isClosed = true
  }
  // Before the attempts are interrupted, so that none of them begins another one.
  yield* Effect.addFinalizer(() => Effect.sync(close))

  const transition = (
    delivery: Pick<ClaimedDelivery, "attemptCount" | "tenant">,
    event: DeliveryEvent,
    { clock, random }: Surroundings,
  ): { readonly at: DateTime.Utc; readonly state: DeliveryState } => {
    const now = clock.currentTimeMillisUnsafe()
    const from: DeliveryState = { status: "Pending", attemptCount: delivery.attemptCount, dueAt: now }
    const circumstances = { policy: policies[delivery.tenant.mode], now, random: random.nextDoubleUnsafe() }
    return { at: DateTime.makeUnsafe(now), state: next(from, event, circumstances) }
  }

  /** Hands over the result of a delivery that got no answer. */
  const endWithout = (
    claimed: ClaimedDelivery,
    event: DeliveryEvent,
    leaseUntil: number,
    attempt: Attempt | undefined,
    surroundings: Surroundings,
  ): void => {
    const { at, state } = transition(claimed, event, surroundings)
    const { endpoint, id, tenant, token } = claimed
    const settlement = { tenant, id, endpointId: endpoint.id, token, at, state, attempt }
    writer.push({ settlement, disables: undefined, url: "", leaseUntil }, surroundings.context)
  }

  /** Why no attempt is made; `undefined` when one is made. */
  const refusal = (claimed: ClaimedDelivery, surroundings: Surroundings): DeliveryEvent | undefined => {
    const { status } = claimed.endpoint
    if (status !== "enabled") {
      return { _tag: status === "deleted" ? "EndpointDeleted" : "EndpointDisabled" }
    }
    if (!claimed.wasLost) return undefined
    const event: DeliveryEvent = { _tag: "Lost" }
    return transition(claimed, event, surroundings).state.status === "Failed" ? event : undefined
  }

  const finish = (
    claimed: ClaimedDelivery,
    result: DeliveryAttempt.AttemptResult,
    leaseUntil: number,
    surroundings: Surroundings,
  ): void => {
    const { at, state } = transition(claimed, result.event, surroundings)
    const { endpoint, id, tenant, token } = claimed
    const failingSince = endpoint.failingSince?.epochMilliseconds
    const settlement = { tenant, id, endpointId: endpoint.id, token, at, state, attempt: result.attempt }
    const why = isEndpointsFailure(result.attempt)
      ? disables(result.event, failingSince, at.epochMilliseconds)
      : undefined
    writer.push({ settlement, disables: why, url: endpoint.url, leaseUntil }, surroundings.context)
    if (why !== undefined) releaseThose((each) => each.claimed.endpoint.id === endpoint.id, surroundings)
    const tag = result.event._tag
    attemptsOf[tag === "Succeeded" || tag === "Gone" ? tag : "AttemptFailed"].updateUnsafe(
      1,
      surroundings.context,
    )
  }

  /** Only the sending can be interrupted. Its result is always handed over. */
  const attempt = ({ claimed, leaseUntil, slot }: Waiting, startedAt: number, surroundings: Surroundings) =>
    Effect.uninterruptibleMask((restore) => {
      const { clock, context } = surroundings
      underWay.modifyUnsafe(1, context)
      const sending = restore(DeliveryAttempt.make(claimed, signers, transport, senderHeaders))
      return Effect.map(Effect.exit(sending), (exit) => {
        underWay.modifyUnsafe(-1, context)
        const now = clock.currentTimeMillisUnsafe()
        if (Exit.isSuccess(exit)) {
          const { load: sign, pauseMillis } = exit.value
          const hasMore = load.end(slot, sign, now, pauseMillis)
          finish(claimed, exit.value, leaseUntil, surroundings)
          beginWaiting(surroundings)
          if (mayHaveMore || hasMore) awaken.notify()
          return
        }
        load.end(slot, "none", now)
        attemptsOf.Lost.updateUnsafe(1, context)
        const counted = { ...claimed, attemptCount: claimed.attemptCount + 1 }
        const made = lostAttempt(claimed.attemptCount, DateTime.makeUnsafe(startedAt))
        endWithout(counted, { _tag: "Lost" }, leaseUntil, made, surroundings)
        beginWaiting(surroundings)
      })
    })

  const release = ({ claimed, leaseUntil, slot }: Waiting, surroundings: Surroundings): void => {
    load.end(slot, "none", surroundings.clock.currentTimeMillisUnsafe())
    endWithout(claimed, { _tag: "Released" }, leaseUntil, undefined, surroundings)
  }

  /** Begins the attempt of a delivery whose turn it is, or gives it back: it must not be sent any more, or not in time. */
  const beginNext = (next: Waiting, turn: Turn, now: number, surroundings: Surroundings): void => {
    // Half of the time that an attempt leaves of its lease is for writing the result.
    const isTooLate = next.hasWaited && now >= next.leaseUntil - attemptDeadline - spareMillis / 2
    if (turn === "is given back" || isTooLate) return release(next, surroundings)
    load.begin(next.slot, now)
    FiberSet.addUnsafe(attempts, Effect.runForkWith(surroundings.context)(attempt(next, now, surroundings)))
  }

  /** Begins as many attempts as there are places. Attempts that end meanwhile leave the next ones to it. */
  const beginWaiting = (surroundings: Surroundings): void => {
    if (isBeginning || isClosed) return
    isBeginning = true
    try {
      for (let [next] = waiting; next !== undefined; [next] = waiting) {
        const now = surroundings.clock.currentTimeMillisUnsafe()
        const turn = load.turnOf(next.slot, now)
        if (turn === "waits") return
        waiting.shift()
        beginNext(next, turn, now, surroundings)
      }
    } finally {
      isBeginning = false
    }
  }

  const releaseThose = (which: (waiting: Waiting) => boolean, surroundings: Surroundings): void => {
    const kept = waiting.filter((each) => !which(each))
    if (kept.length === waiting.length) return
    const released = waiting.filter(which)
    waiting.splice(0, waiting.length, ...kept)
    for (const each of released) release(each, surroundings)
  }

  const releaseWaiting = Effect.map(currentSurroundings, (surroundings) =>
    releaseThose(() => true, surroundings),
  )

  /** `isRoomy`: there is certainly a place. Otherwise the delivery is released when there is none, and always once the dispatcher stops. */
  const start = (
    claimed: ClaimedDelivery,
    leaseUntil: number,
    isRoomy: boolean,
    surroundings: Surroundings,
  ): void => {
    const reason = refusal(claimed, surroundings)
    if (reason !== undefined) return endWithout(claimed, reason, leaseUntil, undefined, surroundings)
    const hasRoom = isRoomy || load.hasRoom(claimed, surroundings.clock.currentTimeMillisUnsafe())
    if (isClosed || !hasRoom) {
      return endWithout(claimed, { _tag: "Released" }, leaseUntil, undefined, surroundings)
    }
    waiting.push({ claimed, hasWaited: false, leaseUntil, slot: load.wait(claimed) })
  }

  const setAside = Effect.fnUntraced(function* (
    row: UnreadableDelivery,
    leaseUntil: number,
    surroundings: Surroundings,
  ) {
    yield* Effect.logError("a webhook delivery cannot be read and was set aside as Failed", row.id, row.cause)
    const { at, state } = transition(row, { _tag: "Unreadable" }, surroundings)
    const { id, tenant, token } = row
    const settlement = { tenant, id, endpointId: undefined, token, at, state, attempt: undefined }
    writer.push({ settlement, disables: undefined, url: "", leaseUntil }, surroundings.context)
  })

  /** Begins the attempts of deliveries that were leased. */
  const startAll = Effect.fnUntraced(function* (leased: Claimed, leaseUntil: DateTime.Utc, isRoomy: boolean) {
    const ends = leaseUntil.epochMilliseconds
    const surroundings = yield* currentSurroundings
    yield* Effect.forEach(leased.unreadable, (row) => setAside(row, ends, surroundings), { discard: true })
    for (const delivery of leased.deliveries) start(delivery, ends, isRoomy, surroundings)
    beginWaiting(surroundings)
    for (const each of waiting) each.hasWaited = true
  })

  const take = Effect.gen(function* () {
    const now = yield* DateTime.now
    const limit = Math.min(load.leasable(now.epochMilliseconds), MAX_CLAIM)
    if (isClosed || limit === 0) return 0
    const leaseUntil = DateTime.add(now, { milliseconds: leaseMillis })
    const room = load.room(now.epochMilliseconds)
    const before = takings
    const { limits, tenantLimits } = room
    const claimed = yield* store.claimDue({ now, leaseUntil, limit, limitPerEndpoint, limits, tenantLimits })
    load.claimed(claimed.deliveries, room)
    // What was taken while the claim was under way has places that the claim was for.
    yield* startAll(claimed, leaseUntil, takings === before)
    const count = claimed.deliveries.length + claimed.unreadable.length
    mayHaveMore = count === limit
    return count
  })

  /** Nothing is offered while more may be due than was claimed: that comes first. */
  const offer = Effect.fnUntraced(function* (tenant: Tenant, events: number) {
    const now = yield* DateTime.now
    const offered = mayHaveMore ? undefined : load.offer(tenant, events, now.epochMilliseconds)
    if (offered === undefined) return undefined
    const leaseUntil = DateTime.add(now, { milliseconds: leaseMillis })
    const lastStart = leaseUntil.epochMilliseconds - attemptDeadline
    const places: Places = {
      count: offered.places,
      full: offered.full,
      leaseUntil,
      take: (leased) => {
        load.takeBack(offered)
        if (isClosed || clock.currentTimeMillisUnsafe() >= lastStart) return false
        if (leased.deliveries.length + leased.unreadable.length > 0) {
          takings++
          run(Effect.uninterruptible(startAll(leased, leaseUntil, false)))
        }
        return true
      },
    }
    return places
  })

  const takePublished = Effect.andThen(
    store.handTo({ offer }),
    Effect.addFinalizer(() => Effect.sync(close)),
  )

  const runDue = Effect.gen(function* () {
    let count = 0
    for (;;) {
      const taken = yield* Effect.uninterruptible(take)
      yield* FiberSet.awaitEmpty(attempts)
      yield* writer.writeAll
      if (taken === 0) return count
      count += taken
    }
  }).pipe(Effect.withSpan("Dispatcher.runDue"))

  const sending: Sending = {
    runDue,
    inFlight: Effect.sync(() => load.inFlight),
    claim: Effect.map(Effect.uninterruptible(take), (count) => count > 0 && mayHaveMore),
    isBusy: Effect.map(currentSurroundings, (surroundings) => {
      beginWaiting(surroundings) // attempts may have stalled
      const isBusy = load.isBusy(surroundings.clock.currentTimeMillisUnsafe())
      if (isBusy) mayHaveMore = true // so that the next attempt that ends wakes the claiming loop
      return isBusy
    }),
    awaken,
    due: store.due,
    takePublished,
    releaseWaiting,
    writer,
    attempts,
  }
  return sending
})

/** Runs the sending in the background, and stops it in order when the scope closes. */
const work = Effect.fnUntraced(function* (sending: Sending) {
  const { attempts, awaken, claim, isBusy, releaseWaiting, writer } = sending
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
    yield* Effect.timeoutOption(awakened, POLL_MILLIS)
  }).pipe(
    Effect.catch((error) =>
      Effect.andThen(
        outage.failed(
          "webhook deliveries can't be claimed because the storage fails; claiming is tried again",
          error,
        ),
        Effect.sleep(POLL_MILLIS),
      ),
    ),
  )
  // Not forked in the scope, which would wait for a claim that the storage never answers. The finalizer ends it.
  const claiming = yield* Effect.forkDetach(Effect.forever(round))
  yield* Effect.forkScoped(Effect.forever(Effect.tap(due, () => Effect.sync(awaken.notify))))
  const writing = Effect.andThen(resultsTaken, writer.writeWaiting)
  const pausing = (written: number) =>
    Effect.sleep(written < MANY_RESULTS ? WRITE_INTERVAL_MILLIS : BUSY_WRITE_INTERVAL_MILLIS)
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(writing, pausing)))

  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      const ended = Effect.andThen(Fiber.interrupt(claiming), FiberSet.awaitEmpty(attempts))
      yield* releaseWaiting
      yield* Effect.timeoutOption(ended, DRAIN_MILLIS)
      yield* FiberSet.clear(attempts)
      yield* Effect.timeoutOption(writer.writeAll, LAST_WRITE_MILLIS)
    }),
  )
  // The last to begin, and so the first to end.
  yield* sending.takePublished
})
