/**
 * The in-memory storage adapter of Billwright.
 */
export { TransactionEnded } from "./Journal.ts"
export * as Memory from "./Memory.ts"
export { MemoryInspector } from "./MemoryInspector.ts"
export type { CellRow, EndpointSnapshot, MemorySnapshot, RollupRow } from "./MemoryInspector.ts"
