/**
 * The storage of Billwright on PostgreSQL 15 to 18.
 */
export * as Host from "./host/Host.ts"
export type { HostClient, HostPool, HostPoolClient } from "./host/Host.ts"
export * as HostBridge from "./host/HostBridge.ts"
export * as Migrations from "./migrations/Migrations.ts"
export { IncompatibleSchema } from "./migrations/IncompatibleSchema.ts"
export type { Migration } from "./migrations/Migration.ts"
export * as PostgresClient from "./PostgresClient.ts"
export * as SchemaName from "./SchemaName.ts"
export { startProblemOf } from "./StartProblem.ts"
export type { StartNames, StartProblem } from "./StartProblem.ts"
export * as Storage from "./Storage.ts"
export { isLoginRefused, sqlState } from "./StorageFailure.ts"
export type { StorageOptions } from "./Storage.ts"
