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
  /**
   * The column for the instant of a removal, for a resource that keeps its ids. The row of a removed value stays, and
   * the columns of its fields become null.
   */
  readonly removedAt?: string
  /**
   * The function in the index of the column `search_text`, for a resource that can be searched. From the account, the
   * mode and the text it returns all sequences of three letters.
   */
  readonly searchKeys?: string
}

/** By the type of the resource. */
export const RESOURCE_TABLES: Readonly<Record<string, ResourceTable>> = {
  AuditRecord: { table: "audit_records" },
  AutoTopUp: { table: "auto_top_ups" },
  BookCheck: { table: "book_checks" },
  Coupon: { table: "coupons" },
  CreditAlert: { table: "credit_alerts" },
  Customer: { table: "customers", removedAt: "erased_at", searchKeys: "customer_search_keys" },
  Dispute: { table: "disputes" },
  InvoiceItem: { table: "invoice_items" },
  InvoiceProof: { table: "invoice_proofs" },
  Meter: { table: "meters" },
  PaymentMethod: { table: "payment_methods" },
  PlanMigration: { table: "plan_migrations" },
  RateCard: { table: "rate_cards" },
  Redemption: { table: "redemptions" },
  Refund: { table: "refunds" },
  SpendAlert: { table: "spend_alerts", countedBy: "spend_alert_count" },
  TestClock: { table: "test_clocks" },
  TokenUsage: { table: "token_usages" },
  TopUp: { table: "top_ups" },
  UsageThreshold: { table: "usage_thresholds", countedBy: "threshold_count" },
}
