/**
 * The host's own transaction that the current fiber works in, if any.
 */
import { Context } from "effect"
import type { SqlClient } from "effect/sql"

/** Set by `Host.joining`. Every store uses this client if it is set. */
export const HostTransaction = Context.Reference<SqlClient.SqlClient | undefined>(
  "@billwright/postgres/host/HostTransaction",
  { defaultValue: () => undefined },
)
