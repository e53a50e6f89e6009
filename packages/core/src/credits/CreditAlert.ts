/**
 * Credit alerts: they fire when what a customer has of a unit falls below a level.
 */
import { Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as TooMany from "../shared/TooMany.ts"
import { amountFrom, CreditUnit } from "./Credit.ts"

/** The prefix of the ids of credit alerts. */
export const CREDIT_ALERT_ID_PREFIX = "cal"
/** Most credit alerts of a customer, of all units. */
export const MAX_CREDIT_ALERTS = 20

export const CreditAlertId = Id.schema(CREDIT_ALERT_ID_PREFIX).pipe(Schema.brand("CreditAlertId"))
export type CreditAlertId = typeof CreditAlertId.Type

const bounds = { minimum: 1n, maximum: 10n ** 30n, problem: "must be an integer from 1 to 10^30" }

const customerId = Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer whose credits are watched.")
const unit = Field.text(CreditUnit, "The unit of the credits: a currency, or a unit of yours.")
const level = Field.integer(
  amountFrom(1n),
  bounds,
  "It fires when less than this is available: an integer of the smallest unit, from 1 to 10^30.",
)

/** The definition of the resource; see `Resource`. */
export const creditAlerts = Resource.make({
  type: "CreditAlert",
  noun: "credit alert",
  title: "Credit alerts",
  description:
    "Publishes the event `credit.low` when what a customer has of a unit falls below a level, once each time it does.",
  about: "Events for customers whose credits run low.",
  path: "/credit_alerts",
  scope: "credits",
  id: CreditAlertId,
  prefix: CREDIT_ALERT_ID_PREFIX,
  customer: "customerId",
  fields: { customerId, unit, level },
  times: {
    createdAt: Field.instant("When it was created."),
    updatedAt: Field.instant("When its level last changed."),
  },
  create: { customerId, unit, level },
  update: { level: Field.optional(level) },
  filters: {
    customerId: Field.optional(Field.saying(customerId, "Only alerts of this customer.")),
  },
  indexed: ["customerId"],
  operations: {
    create:
      "Watches what a customer has of a unit, without what is held. It fires at once if less than its level is available.",
    remove: { verb: "Delete", past: "deleted", description: "It won't fire again." },
  },
  example: {
    id: "cal_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    unit: "token",
    level: 10000,
    created_at: "2026-11-21T09:32:00.000Z",
    updated_at: "2026-11-21T09:32:00.000Z",
  },
  exampleOfUpdate: {
    request: { level: 20000 },
    response: { level: 20000, updated_at: "2026-11-21T09:45:00.000Z" },
  },
})

/** A credit alert. */
export const CreditAlert = creditAlerts.Value
export interface CreditAlert extends Schema.Schema.Type<typeof CreditAlert> {}

/** The input of `CreditAlerts.create`. */
export const CreateCreditAlert = creditAlerts.Create
export interface CreateCreditAlert extends Schema.Schema.Type<typeof CreateCreditAlert> {}

/** The input of `CreditAlerts.update`. */
export const UpdateCreditAlert = creditAlerts.Update
export interface UpdateCreditAlert extends Schema.Schema.Type<typeof UpdateCreditAlert> {}

/** Which alerts to list. */
export const ListCreditAlerts = creditAlerts.List
export interface ListCreditAlerts extends Schema.Schema.Type<typeof ListCreditAlerts> {}

/** The tenant has no credit alert with this id. */
export const CreditAlertNotFound = creditAlerts.NotFound
export type CreditAlertNotFound = InstanceType<typeof CreditAlertNotFound>

/** The customer already has `MAX_CREDIT_ALERTS` alerts. */
export class TooManyCreditAlerts extends TooMany.make(
  "TooManyCreditAlerts",
  MAX_CREDIT_ALERTS,
  "credit alerts of this customer",
) {}
