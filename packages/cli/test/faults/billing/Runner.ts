/**
 * A process that does what is due once, or advances a test clock. It can be killed right before or right after one of its commits: by itself, with
 * SIGKILL, so that the test knows where.
 *
 * `RUN_AT`: its clock, in epoch milliseconds. `KILL`: `before 3` or `after 3`, a commit by its number. Without it the
 * process prints its report. `BANK`: the book of the bank that takes the money. `KILL` may then be `call 2` or `answer 2`,
 * before a call of the bank or after its answer. `ALONE`: each subject has a transaction of its own. `ADVANCE`: the id of a test clock, which
 * it advances to `ADVANCE_TO`.
 */
import {
  BatchTransactor,
  BillingRuns,
  DueStore,
  type PaymentProvider,
  TestClocks,
  Transactor,
} from "@billwright/core"
import { Context, DateTime, Effect, Option } from "effect"
import { bankAt } from "./BankClient.ts"
import { type Change, Installation, onPostgres } from "./Installation.ts"

const [moment = "", number = "0"] = (process.env["KILL"] ?? "").split(" ")
let commits = 0
let calls = 0

const diesAt = (at: string, count: number): Effect.Effect<void> => {
  if (at !== moment || count !== Number(number)) return Effect.void
  process.kill(process.pid, "SIGKILL")
  return Effect.never
}

const passes = (at: "before" | "after"): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (at === "before") commits++
    return diesAt(at, commits)
  })

/** The bank, with deaths around its calls. */
const mortal = (bank: PaymentProvider): PaymentProvider => {
  const called = <A, E>(call: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const count = ++calls
      return Effect.tap(Effect.andThen(diesAt("call", count), call), () => diesAt("answer", count))
    })
  return {
    ...bank,
    openPayment: (payment) => called(bank.openPayment(payment)),
    attemptPayment: (attempt) => called(bank.attemptPayment(attempt)),
    readPayment: (reference) => called(bank.readPayment(reference)),
    closePayment: (reference) => called(bank.closePayment(reference)),
    refund: (refund) => called(bank.refund(refund)),
    readRefund: (query) => called(bank.readRefund(query)),
  }
}

const around = <A, E, R>(commit: Effect.Effect<A, E, R>) =>
  Effect.tap(Effect.andThen(passes("before"), commit), () => passes("after"))

/** The last effect that ends is right before the commit. */
const beforeCommit = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) => {
  let ended = 0
  return effects.map((effect) =>
    Effect.tap(effect, () => (++ended === effects.length ? passes("before") : Effect.void)),
  )
}

const killed: Change = (ports) => {
  const due = Context.get(ports, DueStore)
  const transactor = Context.get(ports, Transactor)
  const batches = Context.getOption(ports, BatchTransactor)
  const all =
    process.env["ALONE"] === undefined && Option.isSome(batches)
      ? Context.add(ports, BatchTransactor, {
          atomicallyAll: (effects) =>
            Effect.tap(batches.value.atomicallyAll(beforeCommit(effects)), () => passes("after")),
        })
      : Context.omit(BatchTransactor)(ports)
  return all.pipe(
    Context.add(DueStore, { ...due, claimDue: (claim) => around(due.claimDue(claim)) }),
    Context.add(Transactor, {
      ...transactor,
      atomically: (effect) =>
        Effect.flatMap(transactor.inTransaction, (isInside) =>
          isInside
            ? transactor.atomically(effect)
            : Effect.tap(transactor.atomically(Effect.tap(effect, () => passes("before"))), () =>
                passes("after"),
              ),
        ),
    }),
  )
}

const clock = process.env["ADVANCE"]
const book = process.env["BANK"]
const installation = new Installation(
  onPostgres(process.env["DATABASE_URL"] ?? ""),
  Number(process.env["RUN_AT"]),
  {
    change: killed,
    mode: clock === undefined ? "live" : "test",
    payments: book === undefined ? undefined : mortal(bankAt(book)),
  },
)
const to = DateTime.makeUnsafe(Number(process.env["ADVANCE_TO"] ?? 0))
const report = await installation.run<unknown, unknown>(
  clock === undefined
    ? Effect.flatMap(BillingRuns, (runs) => runs.runDue())
    : Effect.flatMap(TestClocks, (clocks) => clocks.advance(clock, { to })),
)
await installation.close()
process.stdout.write(`${JSON.stringify(report)}\n`)
