/**
 * Ids of subscriptions. Invoices refer to them.
 */
import { Schema } from "effect"
import * as Id from "../shared/Id.ts"

/** The prefix of subscription ids. */
export const SUBSCRIPTION_ID_PREFIX = "sub"

export const SubscriptionId = Id.schema(SUBSCRIPTION_ID_PREFIX).pipe(Schema.brand("SubscriptionId"))
export type SubscriptionId = typeof SubscriptionId.Type
