/**
 * What hosts do with prepaid credits. Each command is decided once, and repeated until its outcome is known.
 */
import {
  AutoTopUps,
  Credits,
  Customers,
  Holds,
  Invoices,
  Payments,
  Subscriptions,
  TopUps,
} from "@billwright/core"
import { DateTime, Effect } from "effect"
import { COMMANDS, type Host, MANY } from "../payments/PaymentCommands.ts"
import type { Choice } from "../world/Choice.ts"
import { keyOf, type PrepaidCommand } from "./PrepaidHost.ts"
import { KEYS } from "./PrepaidPlans.ts"
import { TOKEN_COMMANDS } from "./TokenCommands.ts"
import { USAGE_COMMANDS } from "./UsageCommands.ts"

const MINUTE = 60_000
const DAY = 86_400_000
/** Amounts are of the order of what plans grant, so that debts and refusals happen. */
const MOST_TAKEN = 40
const TTLS = [5, 60, 3_600, 5 * 86_400]
/** How long grants of the host last. `null`: for ever. */
const LENGTHS = [MINUTE, DAY, 9 * DAY, null]

const takes = (choice: Choice): bigint => BigInt(choice.int(1, MOST_TAKEN))

const tokens = ({ customerId }: Host) => ({ customerId, unit: "token" })

const consume: PrepaidCommand = {
  name: "consume",
  weight: 8,
  decide: (choice, number) => {
    const amount = takes(choice)
    return (host) =>
      Effect.flatMap(Credits, (credits) =>
        Effect.asVoid(credits.consume({ ...tokens(host), amount, idempotencyKey: keyOf(number) })),
      )
  },
}

const reserve: PrepaidCommand = {
  name: "reserve",
  weight: 5,
  decide: (choice, number) => {
    const [amount, ttlSeconds] = [takes(choice), choice.pick(TTLS)!]
    return (host) =>
      Effect.gen(function* () {
        const input = { ...tokens(host), amount, ttlSeconds, idempotencyKey: keyOf(number) }
        const { id } = yield* (yield* Holds).reserve(input)
        if (!host.holds.includes(id)) host.holds.push(id)
      })
  },
}

/** Commits a hold with more or less than it holds, or releases it. */
const settle: PrepaidCommand = {
  name: "settle",
  weight: 5,
  decide: (choice) => {
    const at = choice.next()
    const amount = choice.chance(0.8) ? takes(choice) - 1n : undefined
    const overdraft = choice.pick(["debt", "refuse"] as const)
    let known: string | undefined
    return ({ holds }) =>
      Effect.gen(function* () {
        known ??= holds[Math.floor(at * holds.length)]
        if (known === undefined) return
        const all = yield* Holds
        yield* amount === undefined ? all.release(known) : all.commit(known, { amount, overdraft })
      })
  },
}

/** Gives credits in money or of the host's unit, some of which expire soon. */
const give: PrepaidCommand = {
  name: "give",
  weight: 4,
  decide: (choice, number) => {
    const kind = choice.pick(["paid", "promotional"] as const)
    const unit = choice.pick(["EUR", "EUR", "token"])
    const amount = unit === "EUR" ? BigInt(choice.pick([1, 450, 2_500])) : takes(choice)
    const length = choice.pick(LENGTHS)!
    let expiresAt: DateTime.Utc | undefined
    return ({ customerId }) =>
      Effect.gen(function* () {
        if (length !== null) expiresAt ??= DateTime.add(yield* DateTime.now, { milliseconds: length })
        const until = expiresAt === undefined ? {} : { expiresAt }
        yield* (yield* Credits).grant({
          customerId,
          unit,
          kind,
          amount,
          ...until,
          idempotencyKey: keyOf(number),
        })
      })
  },
}

/** Gives credits that end in a minute, and holds them for longer: what the hold gives back later is gone. */
const outlast: PrepaidCommand = {
  name: "outlast",
  weight: 6,
  decide: (choice, number) => {
    const ttlSeconds = choice.pick([3_600, 5 * 86_400])
    let expiresAt: DateTime.Utc | undefined
    return (host) =>
      Effect.gen(function* () {
        expiresAt ??= DateTime.add(yield* DateTime.now, { milliseconds: MINUTE })
        const input = { ...tokens(host), amount: 15n, idempotencyKey: keyOf(number) }
        yield* (yield* Credits).grant({ ...input, kind: "promotional", priority: 0, expiresAt })
        const { id } = yield* (yield* Holds).reserve({ ...input, ttlSeconds })
        if (!host.holds.includes(id)) host.holds.push(id)
      })
  },
}

/** Takes back what is left of a grant. */
const takeBack: PrepaidCommand = {
  name: "take back",
  weight: 1,
  decide: (choice) => {
    const at = choice.next()
    let known: string | undefined
    return ({ customerId }) =>
      Effect.gen(function* () {
        const { listGrants, voidGrant } = yield* Credits
        const live = (yield* listGrants({ customerId, limit: MANY })).data.filter(
          ({ status }) => status === "active",
        )
        known ??= live[Math.floor(at * live.length)]?.id
        if (known !== undefined) yield* voidGrant(known)
      })
  },
}

/** Buys credits. Asking again after a lost answer looks first whether they were bought. */
const buy: PrepaidCommand = {
  name: "buy",
  weight: 4,
  decide: (choice) => {
    const what = choice.pick([
      { unit: "token", amount: 45n, currency: "EUR", price: 700n },
      { unit: "EUR", amount: 1_500n },
    ] as const)
    let before: number | undefined
    return ({ customerId }) =>
      Effect.gen(function* () {
        const { create, list } = yield* TopUps
        const { data } = yield* list({ customerId, limit: MANY })
        const { length } = data.filter(({ autoTopUpId }) => autoTopUpId === null)
        before ??= length
        if (length === before) yield* create({ customerId, ...what })
      })
  },
}

/** Gives credits, issues an invoice by mistake that uses them, and voids it: what it used goes back. */
const mistake: PrepaidCommand = {
  name: "mistake",
  weight: 4,
  decide: (choice, number) => {
    const line = { description: `mistake ${number}`, amount: BigInt(choice.pick([900, 4_000])) }
    const kind = choice.pick(["paid", "promotional"] as const)
    return ({ customerId }) =>
      Effect.gen(function* () {
        const invoices = yield* Invoices
        const gift = { customerId, unit: "EUR", kind, amount: 350n, idempotencyKey: keyOf(number) }
        yield* (yield* Credits).grant(gift)
        const { data } = yield* invoices.list({ customerId, limit: MANY })
        const known = data.find(({ lines }) => lines.some((one) => one.description === line.description))
        const draft = known ?? (yield* invoices.create({ customerId, currency: "EUR", lines: [line] }))
        if (draft.status === "draft") yield* invoices.finalize(draft.id)
        const payments = yield* Payments
        const open = (yield* payments.list({ invoiceId: draft.id, status: "open" })).data
        yield* Effect.forEach(open, ({ id }) => payments.cancel(id))
        const issued = yield* invoices.get(draft.id)
        if (issued.availableActions.includes("void")) yield* invoices.void(issued.id)
      })
  },
}

/** Changes the level of the automatic top-up, which works again then if it was suspended. */
const arm: PrepaidCommand = {
  name: "arm",
  weight: 2,
  decide: (choice) => {
    const level = BigInt(choice.pick([1, 20, 70]))
    return ({ customerId }) =>
      Effect.gen(function* () {
        const { list, update } = yield* AutoTopUps
        const [auto] = (yield* list({ customerId })).data
        if (auto !== undefined) yield* update(auto.id, { level })
      })
  },
}

type Action = "change" | "pause" | "resume" | "cancel" | "uncancel"

const ACTIONS: ReadonlyArray<readonly [weight: number, action: Action]> = [
  [6, "change"],
  [2, "pause"],
  [2, "resume"],
  [1, "cancel"],
  [1, "uncancel"],
]

/** Changes a subscription, or subscribes again when it has ended. */
const subscribe: PrepaidCommand = {
  name: "subscribe",
  weight: 6,
  decide: (choice, number) => {
    const [action, plan] = [choice.weighted(ACTIONS), choice.pick(KEYS)]
    const at = choice.pick(["now", "now", "period_end"] as const)
    const credit = choice.pick(["prorate", "none"] as const)
    const anchor = choice.pick(["keep", "now"] as const)
    let isDone = false
    return ({ customerId }) =>
      Effect.gen(function* () {
        const all = yield* Subscriptions
        const { data } = yield* all.list({ customerId, limit: MANY })
        const live = data.find(({ metadata: { beside }, phase }) => phase !== "ended" && beside === undefined)
        const metadata = { command: String(number) }
        if (isDone || data.some((one) => one.metadata["command"] === metadata.command)) return
        isDone = live !== undefined
        if (live === undefined) yield* all.create({ customerId, plan, metadata })
        else if (action === "change") yield* all.change(live.id, { plan, at })
        else if (action === "pause") yield* all.pause(live.id, { credit })
        else if (action === "resume") yield* all.resume(live.id, { anchor })
        else if (action === "cancel") yield* all.cancel(live.id, { at, credit })
        else yield* all.uncancel(live.id)
      })
  },
}

/** Erases the customer. Nothing that it had is left then. */
export const erase: PrepaidCommand = {
  name: "erase",
  weight: 0,
  decide:
    () =>
    ({ customerId }) =>
      Effect.gen(function* () {
        const { cancel, list } = yield* Subscriptions
        const { data } = yield* list({ customerId, limit: MANY })
        const live = data.filter(({ phase }) => phase !== "ended")
        yield* Effect.forEach(live, ({ id }) => cancel(id, { at: "now" }))
        yield* (yield* Customers).erase(customerId)
      }),
}

/** Of payments: one-off invoices, which use credits, money that the host records, credit notes, and void invoices. */
const MONEY = new Set(["issue", "record", "credit", "void", "pay"])

/** Everything that a host may do. */
export const PREPAID_COMMANDS: ReadonlyArray<PrepaidCommand> = [
  consume,
  reserve,
  settle,
  give,
  outlast,
  takeBack,
  buy,
  mistake,
  arm,
  subscribe,
  ...USAGE_COMMANDS,
  ...TOKEN_COMMANDS,
  ...COMMANDS.filter(({ name }) => MONEY.has(name)).map((command) => ({ ...command, weight: 2 })),
]
