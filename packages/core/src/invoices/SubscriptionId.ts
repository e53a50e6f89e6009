/**
 * Ids of subscriptions. Invoices refer to them.
 */
import { Schema } from "effect"
import * as Id from "../shared/Id.ts"
import * as NotFound from "../shared/NotFound.ts"

/** The prefix of subscription ids. */
export const SUBSCRIPTION_ID_PREFIX = "sub"

export const SubscriptionId = Id.schema(SUBSCRIPTION_ID_PREFIX).pipe(Schema.brand("SubscriptionId"))
export type SubscriptionId = typeof SubscriptionId.Type

/** The tenant has no subscription with this id. */
export class SubscriptionNotFound extends NotFound.make("SubscriptionNotFound", "subscription") {}
