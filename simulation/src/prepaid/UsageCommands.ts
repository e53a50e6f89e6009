/**
 * Usage that burns tokens: recorded in time and late, and voided.
 */
import { Invoices, Payments, Subscriptions, Usage } from "@billwright/core"
import { DateTime, Effect } from "effect"
import { chosen, MANY, type Work } from "../payments/PaymentCommands.ts"
import type { PrepaidCommand } from "./PrepaidHost.ts"
import { CALLS } from "./PrepaidPlans.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** How late usage is recorded, each as often as it is chosen. */
const LATENESS = [0, 0, 0, 2 * HOUR, DAY, 8 * DAY, 33 * DAY]
const MOST_CALLS = 14

const use: PrepaidCommand = {
  name: "use",
  weight: 10,
  decide: (choice, number) => {
    const quantity = choice.int(1, MOST_CALLS)
    const lateness = choice.pick(LATENESS)!
    let timestamp: DateTime.Utc | undefined
    return ({ customerId, records }) =>
      Effect.gen(function* () {
        timestamp ??= DateTime.subtract(yield* DateTime.now, { milliseconds: lateness })
        const { productId, unit } = CALLS
        const idempotencyKey = `command ${number}`
        const usage = { customerId, productId, unit, quantity, timestamp, idempotencyKey }
        const { record } = yield* (yield* Usage).record(usage)
        if (!records.includes(record.id)) records.push(record.id)
      })
  },
}

const voidUsage: PrepaidCommand = {
  name: "void usage",
  weight: 3,
  decide: (choice) => {
    const at = choice.next()
    let known: string | undefined
    return ({ records }) =>
      Effect.gen(function* () {
        known ??= records[Math.floor(at * records.length)]
        if (known !== undefined) yield* (yield* Usage).voidRecord(known)
      })
  },
}

/** Bills late usage, also of subscriptions that have ended. */
export const reconcileAll: Work = ({ customerId }) =>
  Effect.gen(function* () {
    const { list, reconcile } = yield* Subscriptions
    const { data } = yield* list({ customerId, limit: MANY })
    yield* Effect.forEach(data, ({ id }) => reconcile(id))
  })

const reconcile: PrepaidCommand = { name: "reconcile", weight: 1, decide: () => reconcileAll }

/** Voids an invoice that has burnt tokens: they go back. */
const voidBurnt: PrepaidCommand = {
  name: "void burnt",
  weight: 9,
  decide: (choice) => {
    const invoice = chosen(
      choice,
      ({ lines, status }) => status === "open" && lines.some(({ origin }) => origin?.burns?.unit === "token"),
    )
    return () =>
      Effect.gen(function* () {
        const found = yield* invoice
        if (found === undefined) return
        const payments = yield* Payments
        const open = (yield* payments.list({ invoiceId: found.id, status: "open" })).data
        yield* Effect.forEach(open, ({ id }) => payments.cancel(id))
        const invoices = yield* Invoices
        const { availableActions } = yield* invoices.get(found.id)
        if (availableActions.includes("void")) yield* invoices.void(found.id)
      })
  },
}

/** What hosts do with usage. */
export const USAGE_COMMANDS: ReadonlyArray<PrepaidCommand> = [use, voidUsage, reconcile, voidBurnt]
