/**
 * The table of each resource. Migrations create the tables.
 */
export interface ResourceTable {
  readonly table: string
  /**
   * The column of customers that counts a customer's resources, for resources that appends of usage depend on. An
   * insert locks the customer until its transaction ends. Other inserts wait, and then see the new row. Appends wait
   * too, so no append commits later without having seen it.
   */
  readonly countedBy?: string
}

/** By the type of the resource. */
export const RESOURCE_TABLES: Readonly<Record<string, ResourceTable>> = {
  UsageThreshold: { table: "usage_thresholds", countedBy: "threshold_count" },
}
