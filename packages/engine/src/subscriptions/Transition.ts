/**
 * One step under way: the subscription as it is so far, and the effects so far. It also has what all rows of the machine
 * do with periods: open, cut, continue and close them.
 */
import type { BillingKind, Effect, EventEffect, SubscriptionEventType } from "./Effect.ts"
import { spanAt } from "./Periods.ts"
import type { CreditPolicy, Period, Segment, Segments, Subscription } from "./Subscription.ts"

/** The segments with other fields in the last one. */
const withLast = ([first, ...others]: Segments, fields: Partial<Segment>): Segments => {
  const last = others.pop()
  return last === undefined ? [{ ...first, ...fields }] : [first, ...others, { ...last, ...fields }]
}

/** What is done in one step. */
export type Apply = (step: Transition) => void

export class Transition {
  subscription: Subscription
  readonly effects: Array<Effect> = []
  /** The instant of what is being done. */
  readonly at: number

  constructor(subscription: Subscription, at: number, effects: ReadonlyArray<Effect> = []) {
    this.subscription = { ...subscription, asOf: Math.max(subscription.asOf, at) }
    this.effects.push(...effects)
    this.at = at
  }

  set(fields: Partial<Subscription>): void {
    this.subscription = { ...this.subscription, ...fields }
  }

  publish(type: SubscriptionEventType, previous: EventEffect["previous"] = {}): void {
    this.set({ sequence: this.subscription.sequence + 1 })
    this.effects.push({ kind: "event", type, at: this.at, subscription: this.subscription, previous })
  }

  /** The segment with the subscription's plan that begins now and lasts until `end`. */
  #segment(end: number): Segment {
    const { plan, quantities } = this.subscription
    return { start: this.at, end, plan, quantities, snap: "down", unused: "prorate" }
  }

  #bill(period: Period, segment: number, ...kinds: ReadonlyArray<BillingKind>): void {
    for (const kind of kinds) this.effects.push({ kind, at: this.at, period, segment })
  }

  #open(period: Period, ...kinds: ReadonlyArray<BillingKind>): void {
    this.set({ period, opened: period.number + 1 })
    this.#bill(period, 0, "open_period", ...kinds)
  }

  /** Opens the period of the grid that contains this instant, from now on. */
  openPeriod(): void {
    const { opened, periods } = this.subscription
    const span = spanAt(periods, this.at)
    const period: Period = { ...span, number: opened, trial: null, segments: [this.#segment(span.end)] }
    this.#open(period, "charge_advance", "grant", "invoice")
  }

  /** Opens the trial, which is a period that nothing is charged for in advance. */
  openTrial(end: number): void {
    const { opened, trialUsage } = this.subscription
    const segments: Segments = [this.#segment(end)]
    this.#open({ start: this.at, end, number: opened, trial: trialUsage, segments }, "grant")
  }

  /** Ends the last segment of the open period now. Fees are credited from here on, if `unused` says so. */
  cut(snap: Segment["snap"], unused: CreditPolicy, isPlanOver: boolean): void {
    const { period } = this.subscription
    if (period === null) return
    const segment = period.segments.length - 1
    const isPaused = period.segments[segment]?.plan === null
    const after = { ...period, segments: withLast(period.segments, { end: this.at, snap, unused }) }
    this.set({ period: after })
    if (isPaused) return
    if (isPlanOver) this.#bill(after, segment, "slice_usage")
    if (unused === "prorate" && period.trial === null) this.#bill(after, segment, "credit_unused")
  }

  /** Begins another segment of the open period, after the last one was cut. */
  continue(...kinds: ReadonlyArray<BillingKind>): void {
    const { period } = this.subscription
    if (period === null) return
    const after: Period = { ...period, segments: [...period.segments, this.#segment(period.end)] }
    this.set({ period: after })
    this.#bill(after, period.segments.length, ...kinds)
  }

  /** Moves what the plan grants, after the last segment was cut and no other follows that does it. */
  regrant(): void {
    const { period } = this.subscription
    if (period !== null && period.segments.at(-1)?.plan !== null) {
      this.#bill(period, period.segments.length, "grant")
    }
  }

  /** Fills the rest of the open period with a segment in which nothing is served. */
  suspend(): void {
    const { period } = this.subscription
    if (period === null) return
    const segment: Segment = { ...this.#segment(period.end), plan: null, quantities: {} }
    const after: Period = { ...period, segments: [...period.segments, segment] }
    this.set({ period: after })
    this.#bill(after, period.segments.length, "grant", "invoice")
  }

  closePeriod(): void {
    const { period } = this.subscription
    if (period === null) return
    this.set({ period: null, closed: { period, at: this.at } })
    this.#bill(period, period.segments.length - 1, "close_period")
  }

  /** Invoices the period that closed just now, when no other period opens whose invoice would do it. */
  invoiceClosed(): void {
    const { closed } = this.subscription
    if (closed?.at === this.at) this.#bill(closed.period, closed.period.segments.length, "invoice")
  }
}
