/** The first path segments of the app's pages. All of them get the same HTML page. The overview is at the mount point. */
export const SECTIONS = [
  "events",
  "deliveries",
  "endpoints",
  "usage",
  "customers",
  "invoices",
  "subscriptions",
  "payments",
  "plans",
  "money",
  "audit-log",
  "test-clocks",
] as const
