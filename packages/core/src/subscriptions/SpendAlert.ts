/**
 * Spend alerts: they fire when what a customer's usage costs in a period reaches an amount of money.
 *
 * The rule of when an alert fires is here (`fired`).
 */
import { DateTime, Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import { SUBSCRIPTION_ID_PREFIX, SubscriptionId } from "../invoices/SubscriptionId.ts"
import { Currency } from "../shared/Currency.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as TooMany from "../shared/TooMany.ts"

/** The prefix of the ids of spend alerts. */
export const SPEND_ALERT_ID_PREFIX = "spa"
/** Most spend alerts of a customer. All of them are looked at after usage of the customer. */
export const MAX_SPEND_ALERTS = 20
const MAX_AMOUNT = 10n ** 30n

export const SpendAlertId = Id.schema(SPEND_ALERT_ID_PREFIX).pipe(Schema.brand("SpendAlertId"))
export type SpendAlertId = typeof SpendAlertId.Type

/** Whether an alert fires once in a period, or at each multiple of its amount. */
export const SpendAlertRepeat = Schema.Literals(["once", "multiples"])
export type SpendAlertRepeat = typeof SpendAlertRepeat.Type

/** What an alert does beside its event. */
export const SpendAlertAction = Schema.Literals(["notify", "block", "invoice"])
export type SpendAlertAction = typeof SpendAlertAction.Type

const integerFrom = (minimum: bigint, description: string) => {
  const bounds = { minimum, maximum: MAX_AMOUNT }
  const problem = `must be an integer from ${minimum} to 10^30`
  const schema = Schema.BigInt.check(Schema.isBetweenBigInt(bounds, { message: problem }))
  return Field.integer(schema, { ...bounds, problem }, description)
}

const customerId = Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer whose spend is watched.")
const subscriptionId = Field.idOrNull(
  SubscriptionId,
  SUBSCRIPTION_ID_PREFIX,
  "The subscription whose spend is watched, in each of its periods. `null`: what all of the customer's subscriptions cost in a UTC month.",
)
const currency = Field.text(Currency, "The ISO 4217 currency of the amount.")
const amount = integerFrom(
  1n,
  "The spend at which it fires: an integer of the minor unit, cents of EUR, from 1 to 10^30.",
)
const repeat = Field.text(
  SpendAlertRepeat,
  "`once`: it fires once in a period. `multiples`: it fires again at each multiple of its amount.",
)
const action = Field.text(
  SpendAlertAction,
  "`notify`: it publishes its event. `block`: it also blocks until the end of the period. `invoice`: it also bills the usage of the period so far. Only for alerts of a subscription.",
)

/** The definition of the resource; see `Resource`. */
export const spendAlerts = Resource.make({
  type: "SpendAlert",
  noun: "spend alert",
  title: "Spend alerts",
  description:
    "Publishes the event `spend.alert` when what usage costs in a period reaches an amount, once per period or at each multiple.",
  about: "Events for customers whose usage costs an amount of money, and limits for it.",
  path: "/spend_alerts",
  scope: "subscriptions",
  id: SpendAlertId,
  prefix: SPEND_ALERT_ID_PREFIX,
  customer: "customerId",
  isReferring: true,
  fields: {
    customerId,
    subscriptionId,
    currency,
    amount,
    repeat,
    action,
    firedAmount: integerFrom(
      0n,
      "The amount at which it last fired: a multiple of its amount. 0 if it never has.",
    ),
    firedPeriodStart: Field.instantOrNull("The start of the period in which it last fired."),
    firedAt: Field.instantOrNull("When it last fired."),
    blockedUntil: Field.instantOrNull(
      "Until when it blocks: the end of the period in which its amount was reached. `null` if it does not.",
    ),
  },
  times: {
    createdAt: Field.instant("When it was created."),
    updatedAt: Field.instant("When its amount or its action last changed."),
  },
  create: {
    customerId,
    subscriptionId: Field.optional(subscriptionId),
    currency,
    amount,
    repeat: Field.optional(Field.saying(repeat, `${repeat.description} Default: \`once\`.`)),
    action: Field.optional(Field.saying(action, `${action.description} Default: \`notify\`.`)),
  },
  update: { amount: Field.optional(amount), action: Field.optional(action) },
  filters: {
    customerId: Field.optional(Field.saying(customerId, "Only alerts of this customer.")),
  },
  indexed: ["customerId"],
  operations: {
    create:
      "Watches what the usage of a customer costs, before discounts and taxes. Fees don't count. It is checked within a second after usage, and fires if its amount is reached, also by usage from before it was created.",
    remove: { verb: "Delete", past: "deleted", description: "It won't fire again, and blocks no more." },
  },
  example: {
    id: "spa_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    subscription_id: null,
    currency: "EUR",
    amount: 10000,
    repeat: "once",
    action: "block",
    fired_amount: 0,
    fired_period_start: null,
    fired_at: null,
    blocked_until: null,
    created_at: "2026-11-21T09:32:00.000Z",
    updated_at: "2026-11-21T09:32:00.000Z",
  },
  exampleOfUpdate: {
    request: { amount: 20000 },
    response: { amount: 20000, updated_at: "2026-11-21T09:45:00.000Z" },
  },
})

/** A spend alert. */
export const SpendAlert = spendAlerts.Value
export interface SpendAlert extends Schema.Schema.Type<typeof SpendAlert> {}

/** The input of `SpendAlerts.create`. */
export const CreateSpendAlert = spendAlerts.Create
export interface CreateSpendAlert extends Schema.Schema.Type<typeof CreateSpendAlert> {}

/** The input of `SpendAlerts.update`. */
export const UpdateSpendAlert = spendAlerts.Update
export interface UpdateSpendAlert extends Schema.Schema.Type<typeof UpdateSpendAlert> {}

/** Which alerts to list. */
export const ListSpendAlerts = spendAlerts.List
export interface ListSpendAlerts extends Schema.Schema.Type<typeof ListSpendAlerts> {}

/** The tenant has no spend alert with this id. */
export const SpendAlertNotFound = spendAlerts.NotFound
export type SpendAlertNotFound = InstanceType<typeof SpendAlertNotFound>

/** The customer already has `MAX_SPEND_ALERTS` alerts. */
export class TooManySpendAlerts extends TooMany.make(
  "TooManySpendAlerts",
  MAX_SPEND_ALERTS,
  "spend alerts of this customer",
) {}

/** What usage costs in a period. Instants are in epoch milliseconds. */
export interface Spend {
  readonly start: number
  readonly end: number
  /** In the minor unit of the currency. */
  readonly amount: bigint
}

/** A firing: the alert after it, and what it is about. */
export interface SpendFiring {
  readonly alert: SpendAlert
  readonly spend: Spend
}

/**
 * The largest amount of an alert that a spend has reached: its amount or, if it fires at multiples, a multiple of it. 0 if
 * none is reached.
 */
const reachedBy = ({ amount, repeat }: SpendAlert, spend: Spend): bigint => {
  if (spend.amount < amount) return 0n
  return repeat === "once" ? amount : (spend.amount / amount) * amount
}

/** Whether an amount of a period is beyond that at which an alert last fired. Periods come one after another. */
const isBeyond = ({ firedAmount, firedPeriodStart }: SpendAlert, start: number, reached: bigint): boolean => {
  const last = firedPeriodStart?.epochMilliseconds ?? Number.NEGATIVE_INFINITY
  return start > last || (start === last && reached > firedAmount)
}

/** An alert as it blocks after a spend. */
const blocking = (alert: SpendAlert, { end }: Spend, now: DateTime.Utc): SpendAlert => {
  const until = alert.blockedUntil?.epochMilliseconds ?? Number.NEGATIVE_INFINITY
  if (alert.action !== "block" || end <= now.epochMilliseconds || end <= until) return alert
  return { ...alert, blockedUntil: DateTime.makeUnsafe(end) }
}

/**
 * An alert whose block ends with its period, also when that ended earlier than it was to, as after a change of the plan's
 * interval. It blocks in the period in which it last fired.
 */
const released = (alert: SpendAlert, spends: ReadonlyArray<Spend>): SpendAlert => {
  const { blockedUntil, firedPeriodStart } = alert
  if (blockedUntil === null || firedPeriodStart === null) return alert
  const from = firedPeriodStart.epochMilliseconds
  const ends = spends.flatMap(({ end, start }) => (start === from ? [end] : start > from ? [start] : []))
  const end = Math.min(...ends)
  return end < blockedUntil.epochMilliseconds ? { ...alert, blockedUntil: DateTime.makeUnsafe(end) } : alert
}

/**
 * What an alert does when it is checked: the alert after it, and its firings. `spends` are those of the periods that it
 * watches, oldest first.
 *
 * It fires for a period when an amount is reached that it has not fired at in this period, nor at a larger one, and when it
 * has not fired in a later period. So it fires once for an amount and period, whoever checks it and how often: a spend that
 * falls does not undo that. When several multiples are reached at once, it fires at the largest. It does not fire for a
 * period that ended before it was created.
 */
export const fired = (
  alert: SpendAlert,
  spends: ReadonlyArray<Spend>,
  now: DateTime.Utc,
): { readonly alert: SpendAlert; readonly firings: ReadonlyArray<SpendFiring> } => {
  let current = released(alert, spends)
  const firings: Array<SpendFiring> = []
  for (const spend of spends) {
    const reached = reachedBy(current, spend)
    if (reached === 0n || spend.end <= alert.createdAt.epochMilliseconds) continue
    current = blocking(current, spend, now)
    if (!isBeyond(current, spend.start, reached)) continue
    const firedPeriodStart = DateTime.makeUnsafe(spend.start)
    current = { ...current, firedAmount: reached, firedPeriodStart, firedAt: now }
    firings.push({ alert: current, spend })
  }
  return { alert: current, firings }
}
