/**
 * Converts a value of a resource to the body of an answer.
 */
import { ExactJson, type Resource, type Tenant } from "@billwright/core"
import type { DateTime } from "effect"
import { objectOf } from "../api/ResourceApi.ts"
import * as Wire from "../api/Wire.ts"
import { instant } from "./Render.ts"

/** Converts one field. */
type Write = (value: never) => unknown

const asItIs = (value: unknown): unknown => value

const orNull =
  (write: Write): Write =>
  (value: unknown) =>
    value === null ? null : write(value as never)

/** Makes the function that converts a resource's values. The definition of the fields is read only once. */
export const make = <A extends object>(
  resource: Resource.Definition,
): ((value: A, tenant: Tenant.Tenant) => object) => {
  const writersOf = (fields: Resource.Definition["fields"]) =>
    Object.entries(fields).map(([name, { isNullable, kind }]) => {
      const write: Write =
        kind === "instant"
          ? (value: DateTime.Utc) => instant(value)
          : kind === "integer"
            ? (value: bigint) => ExactJson.integer(value)
            : asItIs
      return { name, wire: Wire.nameOf(name), write: isNullable ? orNull(write) : write }
    })
  const object = objectOf(resource)
  const fields = writersOf(resource.fields)
  const times = writersOf(resource.times)
  return (value, tenant) => {
    const values = value as Readonly<Record<string, never>>
    const body: Record<string, unknown> = { object, id: values["id"] }
    for (const { name, wire, write } of fields) body[wire] = write(values[name]!)
    body["livemode"] = tenant.mode === "live"
    for (const { name, wire, write } of times) body[wire] = write(values[name]!)
    return body
  }
}
