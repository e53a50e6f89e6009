/**
 * What each role may do with each table, view, sequence and function of the schema: docs/decisions/0039 says why.
 *
 * A test compares this with the catalogue, so each new table or view has to be added here. The owner has every right.
 */
import { functions } from "../functions/Functions.ts"

/** A right on a table or view. */
type Right = "select" | "insert" | "update" | "delete"

interface TableRights {
  readonly app: ReadonlyArray<Right>
  readonly reader: ReadonlyArray<Right>
}

const READ: ReadonlyArray<Right> = ["select"]
/** Rows are only added. */
const APPEND: ReadonlyArray<Right> = ["select", "insert"]
/** Rows are added, and removed when they are old. */
const PRUNE: ReadonlyArray<Right> = ["select", "insert", "delete"]
/** Rows stay. */
const KEEP: ReadonlyArray<Right> = ["select", "insert", "update"]
const WRITE: ReadonlyArray<Right> = ["select", "insert", "update", "delete"]

/** What readers see, and what they don't. */
const shown = (app: ReadonlyArray<Right>): TableRights => ({ app, reader: READ })
const hidden = (app: ReadonlyArray<Right>): TableRights => ({ app, reader: [] })

/** By the name of the table or view. */
export const TABLES: Readonly<Record<string, TableRights>> = {
  // Whoever may write keys can make one for any account.
  api_keys: hidden(READ),
  audit_records: hidden(APPEND),
  auto_top_ups: shown(WRITE),
  billing_book_grants: hidden(READ),
  billing_book_invoices: hidden(READ),
  billing_book_money_back: hidden(READ),
  billing_book_note_nets: hidden(READ),
  billing_book_recognized: hidden(READ),
  billing_credit_accounts: hidden(KEEP),
  billing_credit_consumptions: hidden(APPEND),
  billing_credit_entries: hidden(APPEND),
  billing_credit_grants: hidden(KEEP),
  billing_credit_holds: hidden(KEEP),
  billing_credit_note_lines: hidden(APPEND),
  billing_credit_notes: hidden(APPEND),
  billing_due: hidden(WRITE),
  billing_entitlement_consumptions: hidden(APPEND),
  billing_entitlement_limits: hidden(APPEND),
  billing_entitlement_locks: hidden(KEEP),
  billing_invoice_causes: hidden(WRITE),
  billing_invoice_lines: hidden(WRITE),
  billing_invoices: hidden(WRITE),
  billing_payments: hidden(KEEP),
  billing_periods: hidden(KEEP),
  billing_provider_events: hidden(WRITE),
  billing_series: hidden(KEEP),
  billing_subscriptions: hidden(KEEP),
  book_checks: shown(WRITE),
  coupons: hidden(WRITE),
  credit_alerts: shown(WRITE),
  credit_notes: shown(READ),
  customers: shown(WRITE),
  disputes: shown(WRITE),
  events: shown(PRUNE),
  idempotency_keys: hidden(WRITE),
  invoice_items: hidden(WRITE),
  invoice_lines: shown(READ),
  invoice_proofs: shown(APPEND),
  invoices: shown(READ),
  journal: shown(READ),
  journal_schedule: shown(READ),
  meter_cells: shown(WRITE),
  meter_changes: hidden(WRITE),
  meter_days: hidden(WRITE),
  meter_rollups: hidden(READ),
  meter_works: hidden(WRITE),
  meters: shown(WRITE),
  payment_methods: shown(WRITE),
  payments: shown(READ),
  plan_migrations: shown(WRITE),
  plan_versions: shown(APPEND),
  plans: shown(KEEP),
  rate_cards: shown(KEEP),
  receivable_aging: shown(READ),
  redemptions: hidden(WRITE),
  refunds: shown(WRITE),
  schema_functions: hidden(READ),
  schema_migrations: hidden(READ),
  spend_alerts: shown(WRITE),
  spend_marks: hidden(WRITE),
  subscriptions: shown(READ),
  test_clocks: shown(WRITE),
  token_usages: shown(WRITE),
  top_ups: shown(WRITE),
  usage_daily: shown(KEEP),
  // An append removes its own records again when one of them is refused.
  usage_records: shown(WRITE),
  usage_threshold_firings: shown(WRITE),
  usage_thresholds: shown(WRITE),
  webhook_attempts: shown(READ),
  webhook_deliveries: shown(READ),
  webhook_earlier_attempts: hidden(PRUNE),
  webhook_endpoints: hidden(WRITE),
  webhook_finished: hidden(PRUNE),
  webhook_hourly: shown(WRITE),
  webhook_pending: hidden(WRITE),
  webhook_workers: hidden(WRITE),
}

/**
 * Columns that the application may change in a table that it may not change otherwise: the use of a key is noted, and an
 * event is locked, which needs the right on one column. It is the position in the stream, and not what the event says.
 */
export const COLUMNS: Readonly<Record<string, ReadonlyArray<string>>> = {
  api_keys: ["last_used_at"],
  events: ["xid"],
}

/** Sequences that the application may read and set. */
export const SEQUENCES: ReadonlyArray<string> = ["commit_notices"]

/** Functions that only the owner may call. */
const OF_OWNER: ReadonlyArray<string> = ["prune_audit_log"]

/** A function in the index of customers' names, which migrations make. */
const OF_INDEXES: ReadonlyArray<string> = ["customer_search_keys"]

/** Functions that the application may call: all but those of the owner, and those of triggers, which nobody calls. */
export const APP_FUNCTIONS: ReadonlyArray<string> = [
  ...functions.map(({ name }) => name).filter((name) => !OF_OWNER.includes(name)),
  ...OF_INDEXES,
]

/** Functions that readers need for queries of their own. */
export const READER_FUNCTIONS: ReadonlyArray<string> = [
  "deferred_revenue",
  "format_id",
  "format_instant",
  "parse_id",
]

/** Functions that the recorder may call. */
export const RECORDER_FUNCTIONS: ReadonlyArray<string> = ["commit_hold", "consume_credits", "record_usage"]

/**
 * Functions that run with the rights of the owner, so that the recorder needs no rights on tables, and callers of the others
 * need not say first whose rows they are about. `redact_events` does what the application may not do otherwise.
 */
export const DEFINERS: ReadonlyArray<string> = [
  ...RECORDER_FUNCTIONS,
  "prune_audit_log",
  "publish_event",
  "redact_events",
]
