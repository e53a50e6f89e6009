/**
 * The states of a collection, as a table. Whatever a provider states, in whatever order and however often, goes through
 * `collect`.
 *
 * An attempt whose outcome is unknown blocks every other attempt. It never counts as declined by itself: it is read until
 * the provider says what came of it, or until a person has to look.
 */
import type { CollectionState } from "../invoices/Invoice.ts"
import type {
  Attempt,
  AttemptStatus,
  Attention,
  AttentionCode,
  Collection,
  CollectionInput,
  CollectionStep,
  DeclineAdvice,
  PaymentRead,
} from "./Collection.ts"
import {
  ANSWER_MILLIS,
  DECLINE_CODES,
  isDeclinedTooOften,
  RESEND_MILLIS,
  retryAt,
  UNRESOLVED_DELAYS,
  WAITING_DELAYS,
} from "./Retry.ts"

/**
 * What a collection is moved by. An input becomes one of them, by the attempt and by the schedule.
 *
 * - `attempt`, `send`, `stop`, `permanent`, `transient`, `unknown`, `succeeded`, `processing`, `requires_action`: as the
 *   input says.
 * - `retry_later`, `needs_method`, `give_up`: the attempt was declined, and this is what follows.
 * - `not_attempted`: the request never arrived, so the same attempt is sent again. `too_late` for that: it is dropped, and
 *   another attempt takes its place.
 * - `closed`: somebody has closed it at the provider, so that no attempt takes money any more.
 * - `used_up`: it was tried as often as the schedule says.
 */
export type CollectionCause =
  | "attempt"
  | "send"
  | "succeeded"
  | "processing"
  | "requires_action"
  | "retry_later"
  | "needs_method"
  | "give_up"
  | "not_attempted"
  | "too_late"
  | "transient"
  | "permanent"
  | "unknown"
  | "used_up"
  | "closed"
  | "stop"

type Row = Readonly<Partial<Record<CollectionCause, CollectionState>>>

/** Where the provider's word leads while an attempt may still take money. */
const STATED: Row = {
  succeeded: "paid",
  processing: "processing",
  requires_action: "awaiting_customer",
  retry_later: "retrying",
  needs_method: "awaiting_method",
  give_up: "exhausted",
  closed: "needs_attention",
}

/** No attempt of ours is under way. Money that comes nevertheless is waited for, and booked. */
const AT_REST: Row = {
  attempt: "collecting",
  needs_method: "awaiting_method",
  stop: "stopped",
  succeeded: "paid",
  processing: "processing",
}

/** The request never arrived. */
const NOT_ATTEMPTED: Row = { not_attempted: "collecting", too_late: "retrying" }

/** All transitions. What is not here changes nothing. */
export const COLLECTION_TRANSITIONS: Readonly<Record<CollectionState, Row>> = {
  idle: AT_REST,
  collecting: {
    ...STATED,
    // Only one that was not sent, or that surely did not happen.
    attempt: "collecting",
    send: "collecting",
    too_late: "retrying",
    transient: "collecting",
    permanent: "needs_attention",
    unknown: "unresolved",
    used_up: "needs_attention",
    stop: "stopped",
  },
  unresolved: {
    ...STATED,
    ...NOT_ATTEMPTED,
    unknown: "unresolved",
    used_up: "needs_attention",
    stop: "stopped",
  },
  processing: { ...STATED, unknown: "processing", used_up: "needs_attention", stop: "stopped" },
  awaiting_customer: {
    ...STATED,
    attempt: "collecting",
    unknown: "awaiting_customer",
    used_up: "needs_attention",
    stop: "stopped",
  },
  needs_attention: { ...STATED, ...NOT_ATTEMPTED, attempt: "collecting", stop: "stopped" },
  retrying: AT_REST,
  awaiting_method: AT_REST,
  exhausted: AT_REST,
  stopped: AT_REST,
  paid: {},
}

const UNDER_WAY: ReadonlyArray<AttemptStatus> = ["sent", "unknown", "processing"]

/** Whether the last attempt may have taken money, or may still take it without anybody doing more. */
export const isUnderWay = ({ attempt }: Pick<Collection, "attempt">): boolean =>
  attempt !== null && UNDER_WAY.includes(attempt.status)

/** Whether an attempt may still take money, also once the customer confirms it. */
export const mayTakeMoney = (collection: Pick<Collection, "attempt">): boolean =>
  isUnderWay(collection) || collection.attempt?.status === "requires_action"

const ENDED: ReadonlyArray<AttemptStatus> = ["succeeded", "declined", "dropped"]

/** Whether somebody has asked for the last attempt alone, and nothing has come of it yet. */
export const isRequested = ({ attempt }: Collection): boolean =>
  attempt?.once === true && !ENDED.includes(attempt.status)

/** Events that a change of a collection makes. The payment and the invoice have others of their own. */
export type CollectionEvent =
  | "payment.failed"
  | "payment.processing"
  | "payment.action_required"
  | "payment.unresolved"
  | "payment.needs_attention"
  | "invoice.collection_exhausted"

/** The collection after an input. */
export interface Collected {
  readonly type: "changed"
  readonly collection: Collection
  /** Whether the attempt took the money, now and for the first time. */
  readonly isPaid: boolean
  readonly events: ReadonlyArray<CollectionEvent>
}

/** The input changes nothing: it is late, a repeat, or not possible now. `problem` says why. */
export interface Unchanged {
  readonly type: "unchanged"
  readonly problem: string
}

/** What a cause does to the rest of the collection. */
interface Move {
  readonly cause: CollectionCause
  readonly attempt?: Attempt
  readonly nextAt?: number
  readonly tries?: number
  readonly declines?: Collection["declines"]
  readonly isDecline?: boolean
}

const marked = ({ attempt }: Collection, status: AttemptStatus): Pick<Move, "attempt"> =>
  attempt === null ? {} : { attempt: { ...attempt, status } }

/** The next try of a series, or that it is used up. */
const tryAgain = (
  collection: Collection,
  cause: CollectionCause,
  delays: ReadonlyArray<number>,
  at: number,
): Move => {
  const delay = delays[collection.tries]
  return delay === undefined
    ? { cause: "used_up", tries: collection.tries }
    : { cause, nextAt: at + delay, tries: collection.tries + 1 }
}

type Read = Extract<CollectionInput, { readonly type: "read" }>
type Declined = Read & { readonly read: Extract<PaymentRead, { readonly status: "declined" }> }

const CAUSE_OF_ADVICE: Readonly<Record<Exclude<DeclineAdvice, "retry">, CollectionCause>> = {
  new_method: "needs_method",
  confirm: "requires_action",
  stop: "give_up",
}

/** What follows a decline: the network's and the provider's advice comes before what the code says. */
const declined = (
  collection: Collection,
  { elsewhere = [], read: { advice, code, notBefore } }: Declined,
  at: number,
  timezone: string,
): Move | string => {
  const { attempt, declines } = collection
  const decline = { method: attempt?.method ?? null, at }
  const all = [...declines, decline]
  const next = advice ?? (Object.hasOwn(DECLINE_CODES, code) ? DECLINE_CODES[code] : undefined) ?? "retry"
  const noted = { ...marked(collection, "declined"), declines: all, isDecline: true }
  if (next === "confirm") {
    const move = waiting(collection, "requires_action", at)
    // It was declined for that reason before, and still waits.
    if (typeof move === "string" || collection.state === "awaiting_customer") return move
    return { ...noted, ...move }
  }
  if (attempt?.once === true) return { ...noted, cause: "give_up" }
  if (next !== "retry") return { ...noted, cause: CAUSE_OF_ADVICE[next] }
  const retry = retryAt(all, decline, notBefore, timezone)
  return retry === undefined || isDeclinedTooOften([...all, ...elsewhere], decline.method, retry)
    ? { ...noted, cause: "give_up" }
    : { ...noted, cause: "retry_later", nextAt: retry }
}

/** The states in which a bank or the customer has to do something. */
const WAITING = { processing: "processing", requires_action: "awaiting_customer" } as const

/** A bank or the customer has to do something. The schedule of reads goes on if it has begun. */
const waiting = (
  collection: Collection,
  cause: "processing" | "requires_action",
  at: number,
): Move | string => {
  const isWaiting = collection.state === WAITING[cause]
  if (isWaiting && at < (collection.nextAt ?? at)) return `it is ${collection.state} already`
  const move = tryAgain(isWaiting ? collection : { ...collection, tries: 0 }, cause, WAITING_DELAYS, at)
  return { ...move, ...marked(collection, cause) }
}

/** Whether an attempt was sent so long ago that the provider may have forgotten its key. */
const isTooLate = ({ sentAt }: Attempt, at: number): boolean => at - (sentAt ?? at) >= RESEND_MILLIS

/** Surely nothing came of the attempt, and it is not sent again. The one in its place goes on with its tries. */
const tooLate = (collection: Collection, at: number): Move => ({
  cause: "too_late",
  ...marked(collection, "dropped"),
  nextAt: at,
  tries: collection.tries,
})

/** The provider knows nothing of the attempt. */
const notAttempted = (collection: Collection, at: number): Move | string => {
  const { attempt, state, tries } = collection
  if (state === "processing") return waiting(collection, "processing", at)
  if (state === "awaiting_customer") return waiting(collection, "requires_action", at)
  if (attempt?.status !== "unknown") return "the provider says nothing new"
  return isTooLate(attempt, at)
    ? tooLate(collection, at)
    : { cause: "not_attempted", ...marked(collection, "ready"), nextAt: at, tries }
}

/** Whether nothing would change when it is closed: there is no attempt that might still take money. */
const isKnownClosed = ({ attempt, state }: Collection): boolean =>
  attempt === null ? state === "needs_attention" : attempt.status === "dropped"

/**
 * Whether a decline of an earlier attempt is the newest that there is at the provider. The request of this attempt was lost
 * while the customer could still confirm the one before, so that what is waited for is the one before. A day has gone by
 * then, so that it is no answer from before this attempt. So it is after all days have gone by.
 */
const isOvertaken = ({ attempt, nextAt, state }: Collection, at: number): boolean => {
  if (state === "needs_attention") return attempt?.status === "processing"
  return (state === "processing" || state === "awaiting_customer") && nextAt !== null && at >= nextAt
}

const stated = (collection: Collection, input: Read, at: number, timezone: string): Move | string => {
  const { read } = input
  switch (read.status) {
    case "succeeded":
      return { cause: "succeeded", ...marked(collection, "succeeded") }
    case "processing":
    case "requires_action":
      return waiting(collection, read.status, at)
    case "open":
      return notAttempted(collection, at)
    case "closed":
      return isKnownClosed(collection)
        ? "it is known that it is closed"
        : { cause: "closed", ...marked(collection, "dropped") }
    case "declined":
      if (read.attemptId === collection.attempt?.id && collection.attempt.status === "declined")
        return "it is known that it was declined"
      // What is said of an attempt before this one says nothing of this one.
      return read.attemptId === collection.attempt?.id || isOvertaken(collection, at)
        ? declined(collection, { ...input, read }, at, timezone)
        : notAttempted(collection, at)
  }
}

const failed = (collection: Collection, reason: "transient" | "permanent" | "unknown", at: number): Move => {
  const { attempt, state } = collection
  if (state === "processing" || state === "awaiting_customer") {
    return tryAgain(collection, "unknown", WAITING_DELAYS, at)
  }
  if (state === "unresolved") return tryAgain(collection, "unknown", UNRESOLVED_DELAYS, at)
  if (reason === "permanent") return { cause: "permanent", ...marked(collection, "dropped") }
  if (reason === "transient") {
    return { ...tryAgain(collection, "transient", UNRESOLVED_DELAYS, at), ...marked(collection, "ready") }
  }
  // An attempt that was never sent has no outcome.
  if (attempt?.status !== "sent") return tryAgain(collection, "transient", UNRESOLVED_DELAYS, at)
  return {
    ...tryAgain(collection, "unknown", UNRESOLVED_DELAYS, at),
    ...marked(collection, "unknown"),
  }
}

/** Whether the next attempt takes the place of one that never arrived, rather than following a decline. */
const isReplaced = ({ attempt, state }: Collection): boolean =>
  state === "retrying" && attempt?.status === "dropped"

/** A new attempt takes the place of the last one. One that nothing came of leaves it what was asked for. */
const attempted = (
  { attempt }: Collection,
  { attemptId, method, once }: Extract<CollectionInput, { readonly type: "attempt" }>,
): Attempt => {
  const isCarried = attempt?.status === "ready" || attempt?.status === "dropped"
  const isOnce = once === true || (isCarried && attempt.once === true)
  return { id: attemptId, status: "ready", method, sentAt: null, ...(isOnce ? { once: true } : {}) }
}

/** Nothing was attempted with a method that was there before: when it is there again, it is another chance. */
const withoutMethod = (attempt: Attempt | null): Pick<Move, "attempt"> => {
  if (attempt === null) return {}
  return {
    attempt: { ...attempt, method: null, status: attempt.status === "ready" ? "dropped" : attempt.status },
  }
}

const moveOf = (
  collection: Collection,
  input: CollectionInput,
  at: number,
  timezone: string,
): Move | string => {
  const { attempt } = collection
  switch (input.type) {
    case "attempt":
      if (isUnderWay(collection)) return `its last attempt is ${attempt?.status}: read the payment first`
      return {
        cause: "attempt",
        attempt: attempted(collection, input),
        nextAt: at,
        tries: isReplaced(collection) ? collection.tries : 0,
      }
    case "no_method":
      if (isUnderWay(collection)) return `its last attempt is ${attempt?.status}: read the payment first`
      // Nothing was sent, so that it does not count as a decline of a method.
      return {
        cause: attempt?.once === true ? "give_up" : "needs_method",
        isDecline: true,
        ...withoutMethod(attempt),
      }
    case "send":
      if (attempt?.status !== "ready") return `its attempt is ${attempt?.status ?? "not made"}`
      if (isTooLate(attempt, at)) return tooLate(collection, at)
      if (isDeclinedTooOften([...collection.declines, ...(input.elsewhere ?? [])], attempt.method, at)) {
        return { cause: "give_up", ...marked(collection, "dropped") }
      }
      return {
        cause: "send",
        attempt: { ...attempt, status: "sent", sentAt: attempt.sentAt ?? at },
        nextAt: at + ANSWER_MILLIS,
        tries: collection.tries,
      }
    case "read":
      return stated(collection, input, at, timezone)
    case "failed":
      return failed(collection, input.reason, at)
    case "not_chargeable":
      return attempt?.status === "ready"
        ? { cause: "permanent", ...marked(collection, "dropped") }
        : `its attempt is ${attempt?.status ?? "not made"}`
    case "stop":
      if (isUnderWay(collection) && input.isClosed !== true) {
        return `its attempt is ${attempt?.status}: it may still take money`
      }
      return { cause: "stop", ...(attempt?.status === "declined" ? {} : marked(collection, "dropped")) }
  }
}

const codeOf = (
  { attempt: last, state }: Collection,
  { attempt = last ?? undefined, cause }: Move,
  input: CollectionInput,
): AttentionCode => {
  if (input.type === "not_chargeable") return "not_chargeable"
  if (cause === "closed") return "closed_at_provider"
  if (cause === "permanent") return "provider_refused"
  if (attempt?.status === "unknown") return "outcome_unknown"
  return state === "collecting" ? "provider_unreachable" : "no_result"
}

const detailOf = (input: CollectionInput): string | null => {
  if (input.type === "not_chargeable") return input.problem
  return (input.type === "failed" ? input.message : undefined) ?? null
}

/** Why a person has to look now. */
const attentionOf = (before: Collection, move: Move, input: CollectionInput, at: number): Attention => ({
  code: codeOf(before, move, input),
  since: before.attention?.since ?? at,
  detail: detailOf(input),
})

const eventsOf = (before: Collection, { attempt, isDecline = false }: Move, to: CollectionState) => {
  const isNew = before.state !== to
  const isExhausted = to === "exhausted" && attempt?.once !== true
  return [
    ...(isDecline ? (["payment.failed"] as const) : []),
    ...(isNew && to === "processing" ? (["payment.processing"] as const) : []),
    ...(isNew && to === "awaiting_customer" ? (["payment.action_required"] as const) : []),
    ...(isNew && to === "unresolved" ? (["payment.unresolved"] as const) : []),
    ...(isNew && to === "needs_attention" ? (["payment.needs_attention"] as const) : []),
    ...(isNew && isExhausted ? (["invoice.collection_exhausted"] as const) : []),
  ]
}

/**
 * Applies an input. `timezone` is the customer's: retries are at 09:00 there.
 *
 * A repeat of what is known changes nothing. A success is never taken back, and the money of a success that nobody asked
 * for is booked, too.
 */
export const collect = (
  collection: Collection,
  input: CollectionInput,
  at: number,
  timezone: string,
): Collected | Unchanged => {
  const move = moveOf(collection, input, at, timezone)
  if (typeof move === "string") return { type: "unchanged", problem: move }
  const to = COLLECTION_TRANSITIONS[collection.state][move.cause]
  if (to === undefined) return { type: "unchanged", problem: `it is ${collection.state}` }
  const { attempt = collection.attempt, declines = collection.declines, nextAt = null, tries = 0 } = move
  return {
    type: "changed",
    collection: {
      state: to,
      attempt,
      declines,
      tries,
      nextAt,
      ...(collection.closings === undefined ? {} : { closings: collection.closings }),
      ...(to === "needs_attention" ? { attention: attentionOf(collection, move, input, at) } : {}),
    },
    isPaid: to === "paid",
    events: eventsOf(collection, move, to),
  }
}

/**
 * States in which only closing has an instant. If the payment is wanted again by then, it goes on waiting for a method or a
 * person, and there is nothing to read.
 */
const WAITING_FOR_SOMEBODY: ReadonlyArray<CollectionState> = [
  "idle",
  "awaiting_method",
  "exhausted",
  "stopped",
]

/** What a runner does once `nextAt` has come. `null`: nothing happens by itself. */
export const stepOf = ({ attempt, nextAt, state }: Collection): CollectionStep | null => {
  if (nextAt === null || WAITING_FOR_SOMEBODY.includes(state)) return null
  if (state === "retrying") return "attempt"
  return state === "collecting" && attempt?.status === "ready" ? "send" : "read"
}
