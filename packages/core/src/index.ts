/**
 * The domain of Billwright: customers, metered usage, API keys, and the ports that storage adapters implement.
 */
export * as ApiKey from "./keys/ApiKey.ts"
export { ApiKeys } from "./keys/ApiKeys.ts"
export type { ApiKeysOptions, IssuedApiKey, VerifiedApiKey } from "./keys/ApiKeys.ts"
export * as ApiKeySecret from "./keys/ApiKeySecret.ts"
export { ApiKeyStore } from "./keys/ApiKeyStore.ts"
export type { StoredApiKey } from "./keys/ApiKeyStore.ts"
export * as Billing from "./Billing.ts"
export * as Customer from "./customers/Customer.ts"
export { Customers } from "./customers/Customers.ts"
export { CustomerStore } from "./customers/CustomerStore.ts"
export type { CustomerStatus } from "./customers/CustomerStore.ts"
export * as Id from "./shared/Id.ts"
export { IdGenerator } from "./shared/Id.ts"
export { Idempotency, IdempotencyKeyReused, RequestInProgress } from "./shared/Idempotency.ts"
export type { IdempotencyOptions, IdempotentAnswer } from "./shared/Idempotency.ts"
export { IdempotencyStore } from "./shared/IdempotencyStore.ts"
export type { IdempotentRequest, OnceOutcome, StoredResponse } from "./shared/IdempotencyStore.ts"
export { InvalidInput } from "./shared/InvalidInput.ts"
export * as Input from "./shared/InvalidInput.ts"
export * as Metadata from "./shared/Metadata.ts"
export * as Page from "./shared/Page.ts"
export { StorageError } from "./shared/StorageError.ts"
export { CurrentTenant } from "./shared/Tenant.ts"
export * as Tenant from "./shared/Tenant.ts"
export * as Text from "./shared/Text.ts"
export { Transactor } from "./shared/Transactor.ts"
export * as Threshold from "./usage/Threshold.ts"
export { Thresholds } from "./usage/Thresholds.ts"
export { Usage } from "./usage/Usage.ts"
export type { UsageOptions } from "./usage/Usage.ts"
export * as UsageIngest from "./usage/UsageIngest.ts"
export * as UsagePeriod from "./usage/UsagePeriod.ts"
export * as UsageRecord from "./usage/UsageRecord.ts"
export { UsageStore } from "./usage/UsageStore.ts"
export type {
  AppendOutcome,
  AppendResult,
  TotalsQuery,
  UsageDiscrepancy,
  UsageTotal,
} from "./usage/UsageStore.ts"
export * as UsageSummary from "./usage/UsageSummary.ts"
