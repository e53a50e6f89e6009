/**
 * Waits until all deliveries have ended.
 */
import type { FaultyPostgres } from "../FaultyPostgres.ts"
import { until } from "../Until.ts"

/** Makes every waiting retry due at once, again and again, until nothing is pending. */
export const drained = async (postgres: FaultyPostgres): Promise<void> => {
  await until("nothing pending", async () => {
    await postgres.query(
      "update billwright.webhook_pending set due_at = now() where leased_until is null and due_at > now()",
    )
    const [row] = await postgres.query("select count(*)::text as n from billwright.webhook_pending")
    return row!["n"] === "0"
  })
}
