/**
 * The contracts on a schema with row-level security, through a real PgBouncer in transaction pooling mode: a session says
 * whose rows a statement is about, and the next transaction in it is that of another client.
 */
import { inject } from "vitest"
import { suites } from "../SecuredContracts.ts"

const through = (url: string): string => {
  const pooled = new URL(url)
  pooled.host = new URL(inject("pooledUrl")).host
  return pooled.href
}

suites({ name: "PostgreSQL with row-level security behind PgBouncer", through, isPooled: true })
