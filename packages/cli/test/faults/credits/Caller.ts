/**
 * A process that uses credits of one account, many calls at once. It can be killed right before or right after something is
 * written: by itself, with SIGKILL, so that the test knows where.
 *
 * `RUN_AT`: its clock, in epoch milliseconds. `CUSTOMER`: whose account. `FROM` and `TO`: the numbers of its calls. `KILL`:
 * `before 3` or `after 3`, a write by its number. Without it, the process prints what each call came to.
 */
import { CreditStore, Customer, Transactor } from "@billwright/core"
import { Context, Effect } from "effect"
import { type Change, Installation, onPostgres } from "../billing/Installation.ts"
import { called, UNIT } from "./Calls.ts"

const CONCURRENCY = 16

const env = (name: string): string => process.env[name] ?? ""
const [moment, number] = env("KILL").split(" ")
let writes = 0

const diesAt = (at: string, count: number): Effect.Effect<void> => {
  if (at !== moment || count !== Number(number)) return Effect.void
  process.kill(process.pid, "SIGKILL")
  return Effect.never
}

/** A write of one step, which commits by itself. */
const mortal = <A, E, R>(write: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const count = ++writes
    return Effect.tap(Effect.andThen(diesAt("before", count), write), () => diesAt("after", count))
  })

const killed: Change = (ports) => {
  const credits = Context.get(ports, CreditStore)
  const { hold, settle, take } = credits
  const transactor = Context.get(ports, Transactor)
  return ports.pipe(
    Context.add(CreditStore, {
      ...credits,
      take: take === undefined ? undefined : (...call) => mortal(take(...call)),
      hold: hold === undefined ? undefined : (...call) => mortal(hold(...call)),
      settle: settle === undefined ? undefined : (...call) => mortal(settle(...call)),
    }),
    Context.add(Transactor, {
      ...transactor,
      atomically: (effect) =>
        Effect.flatMap(transactor.inTransaction, (isInside) => {
          if (isInside) return transactor.atomically(effect)
          const count = ++writes
          const inner = Effect.tap(effect, () => diesAt("before", count))
          return Effect.tap(transactor.atomically(inner), () => diesAt("after", count))
        }),
    }),
  )
}

const installation = new Installation(onPostgres(env("DATABASE_URL")), Number(env("RUN_AT")), {
  change: killed,
})
const [from, to] = [Number(env("FROM")), Number(env("TO"))]
const account = { customerId: Customer.CustomerId.make(env("CUSTOMER")), unit: UNIT }
const all = await installation.run(
  Effect.forEach(
    Array.from({ length: to - from }, (_, index) => from + index),
    (index) => called(account, index),
    { concurrency: CONCURRENCY },
  ),
)
await installation.close()
process.stdout.write(`${JSON.stringify(all)}\n`)
