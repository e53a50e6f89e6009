/**
 * Takes a person whom the host names.
 */
import { Actor } from "@billwright/core"
import { Schema } from "effect"
import { InvalidInputError } from "../errors/BillingError.ts"
import type { Person } from "./AuditRecords.ts"

const isId = Schema.is(Actor.ActorId)
const isRole = Schema.is(Actor.ActorRole)

/** The actor that a person is. Throws an `InvalidInputError` that names the wrong field. */
export const toActor = (person: Person): Actor.Actor => {
  // In JavaScript, other values may be passed here.
  const { id, role = null }: { readonly id?: unknown; readonly role?: unknown } = Object(person)
  if (!isId(id)) throw new InvalidInputError("id", `must be 1 to ${Actor.MAX_ACTOR_ID_LENGTH} characters`)
  if (role !== null && !isRole(role))
    throw new InvalidInputError("role", `must be 1 to ${Actor.MAX_ROLE_LENGTH} characters`)
  return { ...Actor.host, type: "operator", id, role }
}
