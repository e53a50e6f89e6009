/**
 * The parts of the simulation that tests of real processes use: histories, their checkers, and the calls of clients.
 */
export { judgeBooks, type BillingViolation } from "./billing/BillingCheckers.ts"
export type { Books } from "./billing/Books.ts"
export { outcomeOf } from "./billing/Outcome.ts"
export { judge } from "./Checkers.ts"
export { TokenModel } from "./credits/TokenModel.ts"
export type {
  Answer,
  Ask,
  Call,
  History,
  OrderedEntry,
  Received,
  Stored,
  StorageEntry,
  TenantName,
  UsageAsked,
} from "./History.ts"
export { Asks, FILTERS, FIRST_CUSTOMERS, METERS, newMeters, readsOf } from "./world/Asks.ts"
export { Choice } from "./world/Choice.ts"
export type { Known } from "./world/Known.ts"
