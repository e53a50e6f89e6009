/**
 * B17: using credits and asking what a customer may use, in the path of a request: 64 callers at once, each with a connection
 * for the sides that use one a call.
 *
 * - `consume` with a key on many accounts and on one, against the same by hand and against Redis.
 * - Reserving and committing a hold, against `consume`.
 * - `check` of a metered feature, exact and of the last minute, against a look-up by primary key.
 */
import {
  Credits,
  type Customer,
  Entitlements,
  Holds,
  Meters,
  Plans,
  Subscriptions,
  Usage,
} from "@billwright/core"
import type { PlanDefinition } from "@billwright/engine"
import { Effect } from "effect"
import * as HandCredits from "./baselines/HandCredits.ts"
import * as RedisCredits from "./baselines/RedisCredits.ts"
import { callers, type Measured, measure, type Side } from "./Calls.ts"
import { save } from "./Comparison.ts"
import { connected } from "./Fill.ts"
import * as Ours from "./Ours.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { clusterCpuMicros, cpuMicros } from "./ProcessTime.ts"
import { roundsOf } from "./Rounds.ts"
import { type Interval, intervalOf, ratioOf } from "./Statistics.ts"

const CALLERS = 64
const ACCOUNTS = 1_000
/** Calls of a caller in a round. */
const CALLS = 20
const CHECKS = 30
/** Customers whose answers are remembered when a round begins. */
const RECENT = 32
const UNIT = "token"
const FEATURE = "calls"

const plan: PlanDefinition = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
  features: { [FEATURE]: { type: "metered", meter: "calls", included: "1000000", limit: "hard" } },
}

/** Customers with credits, a subscription and some usage. */
const prepare = (ours: Ours.Ours) =>
  ours.run(
    Effect.gen(function* () {
      yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
      yield* (yield* Plans).push({ plans: [plan] })
      const [credits, subscriptions, usage] = [yield* Credits, yield* Subscriptions, yield* Usage]
      const ids = yield* Ours.createCustomers(ACCOUNTS)
      yield* Effect.forEach(
        ids,
        (customerId) =>
          Effect.gen(function* () {
            yield* credits.grant({ customerId, unit: UNIT, kind: "paid", amount: 1_000_000_000_000n })
            yield* subscriptions.create({ customerId, plan: plan.key })
            yield* usage.record({ customerId, productId: "api", unit: "call", quantity: 7 })
          }),
        { concurrency: 10 },
      )
      return ids
    }),
  )

/** No key is ever used again. */
let rounds = 0

/** The account of a call: all in turn, in no order that repeats soon. */
const accountOf = (caller: number, index: number): number => (caller * 7919 + index * 104_729) % ACCOUNTS

type Account = (caller: number, index: number) => number
const onOne: Account = () => 0

const everyCaller = (
  name: string,
  calls: number,
  call: (caller: number, index: number, key: string) => Promise<unknown>,
): Side => ({
  name,
  round: () => {
    const run = ++rounds
    return callers(CALLERS, calls, (caller, index) => call(caller, index, `${run} ${caller} ${index}`))
  },
})

interface World {
  readonly ours: Ours.Ours
  readonly ids: ReadonlyArray<Customer.CustomerId>
  readonly hand: HandCredits.HandCredits
  readonly redis: RedisCredits.RedisCredits | undefined
}

const consuming = ({ ids, ours }: World, account: Account): Side =>
  everyCaller("Credits.consume", CALLS, (caller, index, idempotencyKey) => {
    const customerId = ids[account(caller, index)]!
    const asked = { customerId, unit: UNIT, amount: 1n, idempotencyKey }
    return ours.run(Effect.flatMap(Credits, (credits) => credits.consume(asked)))
  })

const holding = ({ ids, ours }: World): Side =>
  everyCaller("Holds.reserve and commit", CALLS, (caller, index, idempotencyKey) => {
    const customerId = ids[accountOf(caller, index)]!
    const asked = { customerId, unit: UNIT, amount: 5n, idempotencyKey }
    return ours.run(
      Effect.flatMap(Holds, (holds) =>
        Effect.flatMap(holds.reserve(asked), ({ id }) => holds.commit(id, { amount: 3n })),
      ),
    )
  })

const byHand = ({ hand }: World, account: Account): Side =>
  everyCaller("by hand", CALLS, (caller, index, key) => hand.consume(account(caller, index), key))

const onRedis = ({ redis }: World, account: Account): ReadonlyArray<Side> =>
  redis === undefined
    ? []
    : [
        everyCaller("Redis", CALLS, (caller, index, key) =>
          redis.consume(caller, account(caller, index), key),
        ),
      ]

const checking = ({ ids, ours }: World): Side =>
  everyCaller("exact", CHECKS, (caller, index) => {
    const asked = { customerId: ids[accountOf(caller, index)]!, feature: FEATURE }
    return ours.run(Effect.flatMap(Entitlements, (entitlements) => entitlements.check(asked)))
  })

/**
 * One call after another: a call that asks nobody never waits, so many at once would only show how they queue. Each customer was
 * asked for shortly before.
 */
const checkingRecent = ({ ids, ours }: World): Side => {
  const check = (_: number, index: number) => {
    const asked = { customerId: ids[index % RECENT]!, feature: FEATURE, maxStalenessMillis: 60_000 }
    return ours.run(Effect.flatMap(Entitlements, (entitlements) => entitlements.check(asked)))
  }
  return {
    name: "at most 60 s old, by one caller",
    round: async () => {
      await callers(1, RECENT, (_, index) => {
        const asked = { customerId: ids[index]!, feature: FEATURE }
        // A consumption makes the process forget the customer. It is refused, because it is for more than there is.
        const tooMuch = { ...asked, quantity: 2_000_000 }
        return ours.run(Effect.flatMap(Entitlements, (entitlements) => entitlements.consume(tooMuch)))
      })
      await callers(1, RECENT, check)
      return callers(1, CALLERS * CHECKS, check)
    },
  }
}

const finding = ({ hand }: World): Side =>
  everyCaller("a look-up by primary key", CHECKS, (caller, index) => hand.find(accountOf(caller, index)))

interface Compared extends Interval {
  readonly name: string
}

/** Compares the first side with each other one, by rate and by median time. */
const comparedOf = (what: string, [ours, ...others]: ReadonlyArray<Measured>): ReadonlyArray<Compared> =>
  others.flatMap((other) => [
    { name: `${what}: rate, ${ours!.name} to ${other.name}`, ...ratioOf(ours!.rates, other.rates) },
    { name: `${what}: p50, ${ours!.name} to ${other.name}`, ...ratioOf(ours!.p50, other.p50) },
    {
      name: `${what}: processor time, ${ours!.name} to ${other.name}`,
      ...ratioOf(ours!.cpuMicros, other.cpuMicros),
    },
  ])

const figuresOf = (what: string, sides: ReadonlyArray<Measured>) =>
  sides.map(({ cpuMicros: cpu, name, p50, p99, rates }) => ({
    name: `${what}: ${name}`,
    callsPerSecond: intervalOf(rates),
    p50Millis: intervalOf(p50),
    p99Millis: intervalOf(p99),
    cpuMicrosPerCall: intervalOf(cpu),
  }))

const measureAll = async (world: World, server: PostgresServer.PostgresServer): Promise<void> => {
  const serverMicros = () =>
    (server.postmaster === undefined ? 0 : clusterCpuMicros(server.postmaster)) +
    (world.redis === undefined ? 0 : cpuMicros(world.redis.pid))
  const parts = [
    {
      what: "1,000 accounts",
      sides: [
        consuming(world, accountOf),
        byHand(world, accountOf),
        holding(world),
        ...onRedis(world, accountOf),
      ],
    },
    { what: "one account", sides: [consuming(world, onOne), byHand(world, onOne), ...onRedis(world, onOne)] },
    {
      what: "check",
      sides: [checking(world), finding(world), checkingRecent(world)],
    },
  ]
  const measured = []
  for (const { sides, what } of parts) {
    console.log(what)
    measured.push({ what, sides: await measure(sides, roundsOf(), serverMicros) })
  }
  const compared = measured.flatMap(({ sides, what }) => comparedOf(what, sides))
  for (const { high, low, median, name } of compared) {
    console.log(`${name}: ${median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`)
  }
  save("holds", {
    title: `B17: credits and entitlements in the path of a request, ${CALLERS} callers, Postgres ${server.version}`,
    unit: "calls/s",
    redis: world.redis?.version ?? null,
    sides: measured.flatMap(({ sides, what }) => figuresOf(what, sides)),
    paired: compared,
  })
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const url = await server.createDatabase("bench_holds")
  const ours = Ours.make(url, {}, CALLERS)
  const ids = await prepare(ours)
  const hand = await HandCredits.make(url, ACCOUNTS, CALLERS)
  const redis = await RedisCredits.make(ACCOUNTS, CALLERS)
  if (redis === undefined) console.log("Redis is left out: this machine has no redis-server")
  try {
    await connected(url, async (client) => {
      await client.query("vacuum analyze")
      await PostgresServer.makeLogFiles(client)
    })
    await measureAll({ ours, ids, hand, redis }, server)
  } finally {
    await redis?.close()
    await hand.close()
    await ours.close()
    await server.stop()
  }
}
