/**
 * What a script is made of: commands, and what they have made so far.
 */
import { type Billing, type CurrentTenant, type Page, Subscriptions, TestClocks } from "@billwright/core"
import { DateTime, Effect } from "effect"

/** The ids of what the commands of a run made, by the number of the command. */
export interface Made {
  readonly clocks: Map<number, string>
  readonly coupons: Map<number, string>
  readonly customers: Map<number, string>
  readonly items: Map<number, string>
  /** One-off invoices. */
  readonly oneOffs: Map<number, string>
  readonly records: Map<number, string>
  readonly subscriptions: Map<number, string>
  /** By the ids of records of customers with a test clock: when they were written, by that clock. */
  readonly writtenAt: Map<string, number>
  /** The way of a test clock between two instants: where it stops. The last stop is the second instant. */
  readonly stopsOf: (from: number, to: number) => ReadonlyArray<number>
  /** Ends the faults of the command under way. */
  readonly calm: () => void
}

export const nothingMade = (): Omit<Made, "stopsOf" | "calm"> => ({
  clocks: new Map(),
  coupons: new Map(),
  customers: new Map(),
  items: new Map(),
  oneOffs: new Map(),
  records: new Map(),
  subscriptions: new Map(),
  writtenAt: new Map(),
})

type Services = Billing.Services | CurrentTenant

/** What a command does. */
export type Work = Effect.Effect<void, unknown, Services>

export interface Command {
  readonly number: number
  /** The index of the tenant. */
  readonly tenant: number
  /** How long after the command before it. */
  readonly afterMillis: number
  /** Whether it may come right after something is due, so that it matters what was done before it. */
  readonly isTight: boolean
  /** Whether it begins work that runs do later, and that has to be done before anything else is due. */
  readonly isBegun: boolean
  readonly name: string
  /** Does it once: repeated after an unknown outcome, it finds what it did. */
  readonly run: (made: Made) => Work
}

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** The most that a run makes of anything. */
const MANY = 100

/** A decision of the first attempt of a command in a run, which later attempts share. */
export const decided = <A>(decide: (made: Made) => Effect.Effect<A, unknown, Services>) => {
  const known = new WeakMap<Made, A>()
  return (made: Made) =>
    Effect.suspend(() =>
      known.has(made)
        ? Effect.succeed(known.get(made)!)
        : Effect.tap(decide(made), (value) => Effect.sync(() => known.set(made, value))),
    )
}

/** Sends a command to a subscription, unless an earlier attempt has changed it. */
export const toSubscription = (
  target: number,
  send: (id: string, made: Made) => Effect.Effect<unknown, unknown, Services>,
) => {
  const sequenceOf = (made: Made) =>
    Effect.flatMap(Subscriptions, (all) =>
      Effect.map(all.get(made.subscriptions.get(target)!), ({ sequence }) => sequence),
    )
  const before = decided(sequenceOf)
  return (made: Made): Work =>
    Effect.gen(function* () {
      const id = made.subscriptions.get(target)
      if (id === undefined) return
      if ((yield* before(made)) === (yield* sequenceOf(made))) yield* send(id, made)
    })
}

/** Makes something, unless an earlier attempt has made it. */
export const makeOnce = <A extends { readonly id: string }, E1, E2, R1, R2>(
  list: (query: { readonly limit: number }) => Effect.Effect<Page.Page<A>, E1, R1>,
  isIt: (one: A) => boolean,
  create: Effect.Effect<A, E2, R2>,
) =>
  Effect.gen(function* () {
    const { data } = yield* list({ limit: MANY })
    return data.find(isIt) ?? (yield* create)
  })

/** The time of a customer: that of the test clock that a command made, or else that of the process. */
export const timeOf = (made: Made, clock: number | undefined) =>
  Effect.gen(function* () {
    const id = clock === undefined ? undefined : made.clocks.get(clock)
    return id === undefined ? yield* DateTime.now : (yield* (yield* TestClocks).get(id)).now
  })
