/**
 * The resources that `Collections` stores, and sample values of them.
 */
import {
  type Collection,
  Collections,
  type Field,
  type Page,
  type Resource,
  Resources,
  TestClock,
} from "@billwright/core"
import { Effect } from "effect"
import * as Sample from "../Sample.ts"
import { newCustomer } from "./UsageProbe.ts"

/** All resources. */
export const collected = Object.values(Resources.all).map(
  ({ definition }) => definition as object as Resource.Resource,
)

/** The collection of a resource. */
export const opened = (resource: Resource.Resource) =>
  Effect.map(Collections, (collections) => collections.of(resource) as object as Collection<Resources.Value>)

/** A value that can be inserted now. Its customer, if it belongs to one, is new. */
export const make = Effect.fnUntraced(function* (resource: Resource.Resource) {
  const customer = resource.customer === undefined ? undefined : yield* newCustomer
  return yield* Sample.of(resource, customer)
})

export const FIRST_PAGE: Page.PageQuery = { limit: 9, cursor: undefined }

/** Inserts a value with some of its fields. */
export const insertWith = Effect.fnUntraced(function* (resource: Resource.Resource, fields: object) {
  const value: Resources.Value = { ...(yield* make(resource)), ...fields }
  yield* (yield* opened(resource)).insert(value)
  return value
})

/** One field of a value, as a filter. */
export const pick = (value: object, name: string): object =>
  Object.fromEntries(Object.entries(value).filter(([field]) => field === name))

/** The ids of what a value belongs to, which has to be stored before it: its customer and its test clock. */
export const ownersOf = (resource: Resource.Definition, value: object): object =>
  Object.fromEntries(
    Object.entries(value).filter(
      ([name]) =>
        name === resource.customer || resource.fields[name]?.prefix === TestClock.TEST_CLOCK_ID_PREFIX,
    ),
  )

/** The unique fields of a value. */
export const uniqueOf = ({ unique = [] }: Resource.Definition, value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([field]) => unique.includes(field)))

/** Changes one field of a resource, step by step. */
export interface Steps {
  readonly changed: (value: Resources.Value, step: number) => Resources.Value
  /** The step that a value has reached. A sample is at step 0. */
  readonly stepOf: (value: Resources.Value) => number
}

const isChangeable = (resource: Resource.Definition, name: string, { kind, schema }: Field.Field): boolean =>
  !resource.indexed.includes(name) && (kind === "integer" || (kind === "text" && !("literals" in schema)))

/** Makes changes to the first field that is an integer, or else text, and has no index. Texts may have rules. */
export const steps = (resource: Resource.Definition): Steps => {
  const changeable = Object.entries(resource.fields).filter(([name, field]) =>
    isChangeable(resource, name, field),
  )
  const found = changeable.find(([, { kind }]) => kind === "integer") ?? changeable[0]
  if (found === undefined) throw new TypeError(`${resource.type} has no field to change in tests`)
  const [name, field] = found
  const first = Sample.exampleOf(resource, name, field)
  return {
    changed: (value, step) => ({
      ...value,
      [name]: typeof first === "bigint" ? first + BigInt(step) : step === 0 ? first : String(step),
    }),
    stepOf: (value) => {
      const current = (value as object as Readonly<Record<string, unknown>>)[name]
      if (typeof first === "bigint") return Number((current as bigint) - first)
      return current === first ? 0 : Number(current)
    },
  }
}
