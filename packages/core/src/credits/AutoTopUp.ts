/**
 * Automatic top-ups: when what a customer has of a unit falls below a level, credits are bought.
 */
import { DateTime, Schema } from "effect"
import * as Field from "../shared/Field.ts"
import * as Resource from "../shared/Resource.ts"
import * as TooMany from "../shared/TooMany.ts"
import {
  AUTO_TOP_UP_ID_PREFIX,
  AutoTopUpId,
  creditsField,
  purchase,
  purchaseInput,
  type TopUp,
} from "./TopUp.ts"

/** Most automatic top-ups of a customer, of all units. */
export const MAX_AUTO_TOP_UPS = 20
/** Most top-ups that one makes in a UTC day. */
export const MAX_TOP_UPS_A_DAY = 100
const DEFAULT_A_DAY = 1

const dayMessage = { message: `must be an integer from 1 to ${MAX_TOP_UPS_A_DAY}` }
const bounds = { minimum: 1, maximum: MAX_TOP_UPS_A_DAY }
const ADay = Schema.Int.annotate(dayMessage).check(Schema.isBetween(bounds, dayMessage))

const level = creditsField("Credits are bought when less than this is available: an integer from 1 to 10^30.")
const maxPerDay = Field.json(ADay, `How often it buys in a UTC day, at most: 1 to ${MAX_TOP_UPS_A_DAY}.`)

/** The definition of the resource; see `Resource`. */
export const autoTopUps = Resource.make({
  type: "AutoTopUp",
  noun: "automatic top-up",
  short: "auto top up",
  title: "Automatic top-ups",
  description: "Buys credits when what a customer has of a unit falls below a level.",
  path: "/auto_top_ups",
  scope: "credits",
  id: AutoTopUpId,
  prefix: AUTO_TOP_UP_ID_PREFIX,
  customer: "customerId",
  fields: {
    ...purchase,
    level,
    maxPerDay,
    suspendedAt: Field.instantOrNull(
      "When a payment of it was declined. It buys nothing until it is changed, or the customer has a new payment method. `null`: it works.",
    ),
  },
  times: {
    createdAt: Field.instant("When it was created."),
    updatedAt: Field.instant("When it was last changed."),
  },
  create: {
    ...purchaseInput,
    level,
    maxPerDay: Field.optional(Field.saying(maxPerDay, `${maxPerDay.description} Default: ${DEFAULT_A_DAY}.`)),
  },
  update: { level: Field.optional(level), maxPerDay: Field.optional(maxPerDay) },
  filters: {
    customerId: Field.optional(Field.saying(purchase.customerId, "Only those of this customer.")),
  },
  indexed: ["customerId"],
  operations: {
    create:
      "Buys credits each time that less than a level is available, one top-up after another. It buys at once if less is available now.",
    remove: { verb: "Delete", past: "deleted", description: "It buys nothing more. Its top-ups stay." },
  },
  example: {
    id: "atu_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    unit: "token",
    amount: 100000,
    currency: "EUR",
    price: 2000,
    tax_code: null,
    level: 10000,
    max_per_day: 3,
    suspended_at: null,
    created_at: "2026-11-21T09:32:00.000Z",
    updated_at: "2026-11-21T09:32:00.000Z",
  },
  exampleOfUpdate: {
    request: { level: 20000 },
    response: { level: 20000, updated_at: "2026-11-21T09:45:00.000Z" },
  },
})

/** An automatic top-up. */
export const AutoTopUp = autoTopUps.Value
export interface AutoTopUp extends Schema.Schema.Type<typeof AutoTopUp> {}

/** The input of `AutoTopUps.create`. */
export const CreateAutoTopUp = autoTopUps.Create
export interface CreateAutoTopUp extends Schema.Schema.Type<typeof CreateAutoTopUp> {}

/** The input of `AutoTopUps.update`. */
export const UpdateAutoTopUp = autoTopUps.Update
export interface UpdateAutoTopUp extends Schema.Schema.Type<typeof UpdateAutoTopUp> {}

/** Which automatic top-ups to list. */
export const ListAutoTopUps = autoTopUps.List
export interface ListAutoTopUps extends Schema.Schema.Type<typeof ListAutoTopUps> {}

/** The tenant has no automatic top-up with this id. */
export const AutoTopUpNotFound = autoTopUps.NotFound
export type AutoTopUpNotFound = InstanceType<typeof AutoTopUpNotFound>

/** The customer already has `MAX_AUTO_TOP_UPS`. */
export class TooManyAutoTopUps extends TooMany.make(
  "TooManyAutoTopUps",
  MAX_AUTO_TOP_UPS,
  "automatic top-ups of this customer",
) {}

/** The default of `maxPerDay`. */
export const TOP_UPS_A_DAY = DEFAULT_A_DAY

/** What an automatic top-up does now: it buys, it waits until an instant (epoch milliseconds), or it does nothing. */
export type NextTopUp = { readonly type: "buy" | "none" } | { readonly type: "wait"; readonly until: number }

/** Whether an automatic top-up is armed, and less than its level is available. */
export const isShort = ({ level, suspendedAt }: AutoTopUp, available: bigint): boolean =>
  available < level && suspendedAt === null

/**
 * What an automatic top-up does when so much is available. `latest` are the newest top-ups that its account has bought by
 * itself, `maxPerDay` of them at most. It buys once at a time: while one is pending, it waits for its payment.
 */
export const nextTopUp = (
  auto: AutoTopUp,
  available: bigint,
  latest: ReadonlyArray<TopUp>,
  now: DateTime.Utc,
): NextTopUp => {
  if (!isShort(auto, available)) return { type: "none" }
  if (latest.some(({ status }) => status === "pending")) return { type: "none" }
  const today = DateTime.startOf(now, "day")
  const ofToday = latest.filter(({ createdAt }) => DateTime.isGreaterThanOrEqualTo(createdAt, today))
  if (ofToday.length < auto.maxPerDay) return { type: "buy" }
  return { type: "wait", until: DateTime.add(today, { days: 1 }).epochMilliseconds }
}
