/**
 * The deliveries that a dispatcher has leased. Each waits for its place, its attempt is made, and its result is handed to the
 * writer. Or it is given back: when its endpoint asks to wait or is gone, when too little of its lease is left, and when the
 * dispatcher stops.
 */
import { Clock, type Context, DateTime, Effect, Exit, FiberSet, Metric, Random } from "effect"
import { type Attempt, isEndpointsFailure, lostAttempt } from "./Delivery.ts"
import * as DeliveryAttempt from "./DeliveryAttempt.ts"
import { type DeliveryEvent, type DeliveryState, disables, next } from "./DeliveryMachine.ts"
import type { Claimed, ClaimedDelivery, UnreadableDelivery } from "./DeliveryStore.ts"
import type { DisabledReason } from "./Endpoint.ts"
import type { ResultWriter } from "./ResultWriter.ts"
import type { RetryPolicies } from "./RetryPolicy.ts"
import type { SenderLoad, Slot, Turn } from "./SenderLoad.ts"
import type { Signers } from "./Signers.ts"
import type { WebhookTransport } from "./WebhookTransport.ts"

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

/** What the attempts of a dispatcher need. */
export interface LeasedDeliveriesOptions {
  readonly signers: Signers
  readonly transport: WebhookTransport["Service"]
  readonly writer: ResultWriter
  readonly load: SenderLoad
  readonly policies: RetryPolicies
  /** The headers by which the sender names itself. */
  readonly senderHeaders: Readonly<Record<string, string>>
  /** The transport's time limit for an attempt. */
  readonly attemptDeadlineMillis: number
  /** How much longer a lease is than an attempt may take. */
  readonly spareMillis: number
  /** Called after each attempt. `mayHaveMore`: whether more may be due for the place that it leaves. */
  readonly onEnd: (mayHaveMore: boolean) => void
}

export interface LeasedDeliveries {
  /**
   * Begins the attempts of deliveries that were leased, or lets them wait for their places. `isRoomy`: there certainly is room
   * for them. Otherwise those are given back for which there is none, and all of them once this is closed.
   */
  readonly start: (leased: Claimed, leaseUntil: DateTime.Utc, isRoomy: boolean) => Effect.Effect<void>
  /** The same, in a fiber of its own. */
  readonly startApart: (leased: Claimed, leaseUntil: DateTime.Utc) => void
  /** Begins as many attempts as there are places. Each attempt that ends does so, too. */
  readonly beginWaiting: Effect.Effect<void>
  /** Gives back all deliveries that wait for a place. From now on no attempt begins. */
  readonly close: Effect.Effect<void>
  readonly isClosed: () => boolean
  /** The attempts under way. */
  readonly attempts: FiberSet.FiberSet<void>
}

/** When the scope closes, no attempt begins any more, and then those under way are interrupted. */
export const make = Effect.fnUntraced(function* (options: LeasedDeliveriesOptions) {
  const { attemptDeadlineMillis, load, onEnd, policies, senderHeaders, signers, transport, writer } = options
  const attempts = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(attempts)()
  /** Those that wait, in the order of their turns. */
  const waiting: Array<Waiting> = []
  /** True while `beginThose` runs. */
  let isBeginning = false
  let isClosed = false

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

  /** Hands over the result of a delivery. Gives why it disables its endpoint. */
  const hand = (
    claimed: ClaimedDelivery,
    event: DeliveryEvent,
    attempt: Attempt | undefined,
    leaseUntil: number,
    surroundings: Surroundings,
  ): DisabledReason | undefined => {
    const { at, state } = transition(claimed, event, surroundings)
    const { endpoint, id, tenant, token } = claimed
    const settlement = { tenant, id, endpointId: endpoint.id, token, at, state, attempt }
    const why =
      attempt !== undefined && isEndpointsFailure(attempt)
        ? disables(event, endpoint.failingSince?.epochMilliseconds, at.epochMilliseconds)
        : undefined
    writer.push({ settlement, disables: why, url: endpoint.url, leaseUntil }, surroundings.context)
    return why
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

  const release = ({ claimed, leaseUntil, slot }: Waiting, surroundings: Surroundings): void => {
    load.end(slot, "none", surroundings.clock.currentTimeMillisUnsafe())
    hand(claimed, { _tag: "Released" }, undefined, leaseUntil, surroundings)
  }

  const releaseThose = (which: (waiting: Waiting) => boolean, surroundings: Surroundings): void => {
    const kept = waiting.filter((each) => !which(each))
    if (kept.length === waiting.length) return
    const released = waiting.filter(which)
    waiting.splice(0, waiting.length, ...kept)
    for (const each of released) release(each, surroundings)
  }

  const finish = (
    { claimed, leaseUntil, slot }: Waiting,
    { attempt: made, event, load: sign, pauseMillis }: DeliveryAttempt.AttemptResult,
    surroundings: Surroundings,
  ): boolean => {
    const { clock, context } = surroundings
    const mayHaveMore = load.end(slot, sign, clock.currentTimeMillisUnsafe(), pauseMillis)
    const why = hand(claimed, event, made, leaseUntil, surroundings)
    const { id } = claimed.endpoint
    if (why !== undefined) releaseThose((each) => each.claimed.endpoint.id === id, surroundings)
    const tag = event._tag
    attemptsOf[tag === "Succeeded" || tag === "Gone" ? tag : "AttemptFailed"].updateUnsafe(1, context)
    return mayHaveMore
  }

  /** What became of an attempt that was interrupted is unknown. */
  const finishLost = (
    { claimed, leaseUntil, slot }: Waiting,
    startedAt: number,
    surroundings: Surroundings,
  ): void => {
    const { clock, context } = surroundings
    load.end(slot, "none", clock.currentTimeMillisUnsafe())
    attemptsOf.Lost.updateUnsafe(1, context)
    const counted = { ...claimed, attemptCount: claimed.attemptCount + 1 }
    const made = lostAttempt(claimed.attemptCount, DateTime.makeUnsafe(startedAt))
    hand(counted, { _tag: "Lost" }, made, leaseUntil, surroundings)
  }

  /** Only the sending can be interrupted. Its result is always handed over. */
  const attempt = (begun: Waiting, startedAt: number, surroundings: Surroundings) =>
    Effect.uninterruptibleMask((restore) => {
      const { context } = surroundings
      underWay.modifyUnsafe(1, context)
      const sending = restore(DeliveryAttempt.make(begun.claimed, signers, transport, senderHeaders))
      return Effect.map(Effect.exit(sending), (exit) => {
        underWay.modifyUnsafe(-1, context)
        if (Exit.isSuccess(exit)) {
          const mayHaveMore = finish(begun, exit.value, surroundings)
          beginThose(surroundings)
          return onEnd(mayHaveMore)
        }
        finishLost(begun, startedAt, surroundings)
        beginThose(surroundings)
      })
    })

  /** Begins the attempt of a delivery whose turn it is, or gives it back: it must not be sent any more, or not in time. */
  const beginNext = (next: Waiting, turn: Turn, now: number, surroundings: Surroundings): void => {
    // Half of the time that an attempt leaves of its lease is for writing the result.
    const lastStart = next.leaseUntil - attemptDeadlineMillis - options.spareMillis / 2
    if (turn === "is given back" || (next.hasWaited && now >= lastStart)) return release(next, surroundings)
    load.begin(next.slot, now)
    FiberSet.addUnsafe(attempts, Effect.runForkWith(surroundings.context)(attempt(next, now, surroundings)))
  }

  /** Begins as many attempts as there are places. Attempts that end meanwhile leave the next ones to it. */
  const beginThose = (surroundings: Surroundings): void => {
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

  const take = (
    claimed: ClaimedDelivery,
    leaseUntil: number,
    isRoomy: boolean,
    surroundings: Surroundings,
  ): void => {
    const reason = refusal(claimed, surroundings)
    if (claimed.endpoint.status !== "enabled") load.forget(claimed.endpoint.id)
    const hasRoom = isRoomy || load.hasRoom(claimed, surroundings.clock.currentTimeMillisUnsafe())
    if (reason === undefined && !isClosed && hasRoom) {
      waiting.push({ claimed, hasWaited: false, leaseUntil, slot: load.wait(claimed) })
      return
    }
    hand(claimed, reason ?? { _tag: "Released" }, undefined, leaseUntil, surroundings)
  }

  const start: LeasedDeliveries["start"] = Effect.fnUntraced(function* (leased, leaseUntil, isRoomy) {
    const ends = leaseUntil.epochMilliseconds
    const surroundings = yield* currentSurroundings
    yield* Effect.forEach(leased.unreadable, (row) => setAside(row, ends, surroundings), { discard: true })
    for (const delivery of leased.deliveries) take(delivery, ends, isRoomy, surroundings)
    beginThose(surroundings)
    for (const each of waiting) each.hasWaited = true
  })

  const close = Effect.map(currentSurroundings, (surroundings) => {
    isClosed = true
    releaseThose(() => true, surroundings)
  })
  // Before the attempts are interrupted, so that none of them begins another one.
  yield* Effect.addFinalizer(() => close)

  const made: LeasedDeliveries = {
    start,
    startApart: (leased, leaseUntil) => {
      run(Effect.uninterruptible(start(leased, leaseUntil, false)))
    },
    beginWaiting: Effect.map(currentSurroundings, beginThose),
    close,
    isClosed: () => isClosed,
    attempts,
  }
  return made
})
