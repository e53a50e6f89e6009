/**
 * Runs a fork: the real code over a storage in memory, on a clock of its own, with a payment provider that moves no money.
 */
import { type CustomerSnapshot, FixedClock, forkProvider, restoreSnapshot } from "@billwright/core"
import { DateTime } from "effect"
import type { BillingCalls, Fork } from "../Billing.ts"
import type { BillingOptions } from "../BillingOptions.ts"
import type { CallOptions } from "../Call.ts"
import type { EventMap } from "../events/EventMap.ts"
import type { Listing } from "../Listing.ts"
import { toPromises } from "../payments/PromisedProvider.ts"
import { toCoreProvider } from "../payments/ProviderBridge.ts"
import type { Calls } from "../runtime/Calls.ts"
import { type Engine, start } from "../runtime/Engine.ts"
import { makeStore } from "../runtime/StoreParts.ts"
import { TestReceivers } from "../testing/TestReceivers.ts"
import { after, makeAdvance, target } from "../testing/TimeTravel.ts"

/** Makes the calls of an engine. */
export type MakeCalls = (engine: Engine, calls: Calls) => BillingCalls<EventMap>

interface Forked {
  /** The engine whose customer is forked. */
  readonly engine: Engine
  readonly snapshot: CustomerSnapshot
  readonly makeCalls: MakeCalls
}

/** The provider of a fork, in the place of the host's. */
const providerFor = (snapshot: CustomerSnapshot, payments: BillingOptions["payments"]) => {
  if (payments === undefined) return {}
  const { chargeable, methods, name } = toCoreProvider(payments)
  const savesMethods = methods !== undefined
  return { payments: toPromises(forkProvider(snapshot, { name, chargeable, savesMethods })) }
}

/** The options of the host that say what things cost and when. The others are about its storage, network and keys. */
const optionsFor = async ({ engine, snapshot }: Forked): Promise<BillingOptions> => {
  const { credits, events, invoices, payments, usage } = engine.options
  // Most hosts never load it.
  const { Memory } = await import("@billwright/memory")
  return {
    store: makeStore("memory", { layer: Memory.layer, isSerial: true }),
    accountId: snapshot.tenant.accountId,
    mode: snapshot.tenant.mode,
    log: false,
    ...(credits === undefined ? {} : { credits }),

    ...(events === undefined ? {} : { events }),
    ...(invoices === undefined ? {} : { invoices }),
    ...(usage === undefined ? {} : { usage }),
    ...providerFor(snapshot, payments),
  }
}

const isListing = (value: unknown): value is Listing<unknown> =>
  typeof value === "object" && value !== null && "page" in value && Symbol.asyncIterator in value

/** What a function returned. A list is read to its end, as long as the fork is there. */
const read = async (returned: unknown): Promise<unknown> => {
  if (!isListing(returned)) return returned
  const all: Array<unknown> = []
  for await (const one of returned) all.push(one)
  return all
}

/** Runs the function of a fork, and throws the fork away. */
export const runFork = async <A>(
  forked: Forked,
  work: (fork: Fork<EventMap>) => Promise<A>,
  options: CallOptions | undefined,
): Promise<A> => {
  const clock = new FixedClock(forked.snapshot.at)
  // Webhooks have no way to a network.
  const { layer } = new TestReceivers(() => new Date(clock.millis))
  const engine = await start(await optionsFor(forked), { clock: clock.layer, transport: layer })
  try {
    await engine.calls.runAsIs(() => restoreSnapshot(forked.snapshot), options)
    const advanceTo = makeAdvance(engine, clock)
    const fork: object = Object.defineProperty(
      {
        ...forked.makeCalls(engine, engine.calls),
        advance: async (duration: object) => advanceTo(after(clock.millis, duration)),
        advanceTo: async (instant: Date | string) => advanceTo(target(clock.millis, instant)),
      },
      "now",
      { enumerable: true, get: () => DateTime.toDateUtc(DateTime.makeUnsafe(clock.millis)) },
    )
    return (await read(await work(fork as Fork<EventMap>))) as A
  } finally {
    await engine.close()
  }
}
