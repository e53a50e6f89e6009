/**
 * Which table keeps which resource. The tables themselves are made by migrations.
 */
export interface ResourceTable {
  readonly table: string
  /**
   * The column of customers that counts theirs, where an append looks at it. Who inserts locks the customer until the
   * transaction ends: others that insert wait and see what this one inserts; and so do appends, so that none commits
   * after it without having looked at it.
   */
  readonly countedBy?: string
}

/** By the type of the resource. */
export const RESOURCE_TABLES: Readonly<Record<string, ResourceTable>> = {
  UsageThreshold: { table: "usage_thresholds", countedBy: "threshold_count" },
}
