/**
 * Who made a change, in words.
 */
import type { AuditRecord } from "../api/Types.ts"

const NAMES: Readonly<Record<AuditRecord["actor_type"], string>> = {
  host: "Your program",
  key: "API key",
  operator: "",
  payer: "Payer",
  provider: "Payment provider",
  runner: "Work in the background",
}

/** `API key key_…`, or a person with the role: `ada@example.com (finance)`. */
export const actorOf = ({ actor_id: id, actor_role: role, actor_type: type }: AuditRecord): string => {
  const name = NAMES[type]
  const who = type === "host" || type === "runner" ? name : `${name} ${id}`.trim()
  return role === null ? who : `${who} (${role})`
}
