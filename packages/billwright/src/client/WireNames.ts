/**
 * Converts names and values between the wire and TypeScript: the text `created_at` becomes the `Date` `createdAt`.
 */
import type { BillingClient } from "./BillingClient.ts"

/** The content of these fields is the caller's own, so the names in it are not converted. */
const OPAQUE = new Set([
  "after",
  "before",
  "data",
  "dimensions",
  "example",
  "from",
  "headers",
  "metadata",
  "models",
  "quantities",
  "request_headers",
  "response_headers",
  "schema",
  "steps",
  "terms",
  "to",
  "tokens",
  "where",
])

/** The result of a call of the client: the value of its promise, or an item of its iterable. */
type Given<Result> = Result extends Promise<infer A> ? A : Result extends AsyncIterable<infer A> ? A : never

/** The results of all calls of the client. */
type Answers = {
  [Group in keyof BillingClient]: {
    [Verb in keyof BillingClient[Group]]: BillingClient[Group][Verb] extends (...args: never) => infer Result
      ? Given<Result>
      : never
  }[keyof BillingClient[Group]]
}[keyof BillingClient]

/** The names of all fields of type `Date`, at any depth. */
type DateFields<A> = A extends Date | string | number | bigint | boolean | null | undefined
  ? never
  : A extends ReadonlyArray<infer Item>
    ? DateFields<Item>
    : A extends object
      ? {
          [Name in keyof A & string]: Extract<A[Name], Date> extends never ? DateFields<A[Name]> : Name
        }[keyof A & string]
      : never

/** The fields that are instants. The compiler checks that the list is complete. */
const INSTANTS: { readonly [Name in DateFields<Answers>]: true } = {
  activatedAt: true,
  advancingTo: true,
  archivedAt: true,
  at: true,
  attemptStartedAt: true,
  blockedUntil: true,
  canceledAt: true,
  closedAt: true,
  completedAt: true,
  createdAt: true,
  currentPeriodEnd: true,
  currentPeriodStart: true,
  detachedAt: true,
  disabledAt: true,
  dueAt: true,
  effectiveAt: true,
  end: true,
  endedAt: true,
  endsAt: true,
  expiresAt: true,
  expiringSince: true,
  failingSince: true,
  finalizesAt: true,
  finishedAt: true,
  firedAt: true,
  firedPeriodStart: true,
  issuedAt: true,
  lastFiredAt: true,
  nextAt: true,
  nextAttemptAt: true,
  now: true,
  paidAt: true,
  pastDueSince: true,
  pausedAt: true,
  periodEnd: true,
  periodStart: true,
  resetsAt: true,
  respondBy: true,
  resumesAt: true,
  retryAt: true,
  sentAt: true,
  settledAt: true,
  since: true,
  start: true,
  startAt: true,
  startedAt: true,
  suspendedAt: true,
  succeededAt: true,
  timestamp: true,
  trialEndAt: true,
  until: true,
  updatedAt: true,
  redeemBefore: true,
  redeemFrom: true,
  voidedAt: true,
}

const toCamel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const toSnake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const readField = (name: string, value: unknown): unknown => {
  if (OPAQUE.has(name)) return value
  const isInstant = Object.hasOwn(INSTANTS, toCamel(name)) && typeof value === "string"
  // A change of a subscription may wait for `period_end`, in the same field as an instant.
  return isInstant && value !== "period_end" ? new Date(value) : read(value)
}

/** Fields that repeat what the API key, the call or another field says. */
const isRedundant = (name: string, value: { readonly object?: unknown }): boolean =>
  name === "object" || name === "livemode" || (name === "created_at" && value.object === "event")

const read = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(read)
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(value).filter(([name]) => !isRedundant(name, value))
  return Object.fromEntries(fields.map(([name, field]) => [toCamel(name), readField(name, field)]))
}

/** Converts an object of an answer. The type is not checked: the API promises it. */
export const fromWire = <A>(body: unknown): A => read(body) as A

/** Converts an object for a request. Fields that are `undefined` are left out, and `Date`s become text. */
export const toWire = (input: object): Record<string, unknown> => {
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    body[toSnake(name)] = value instanceof Date ? value.toISOString() : value
  }
  return body
}

/**
 * A filter by dimensions as `name:value`. A dimension without values is sent without one, so that the API refuses it. Left
 * out, the answer would be about all values.
 */
const toWhere = (where: object): ReadonlyArray<string> =>
  Object.entries(where).flatMap(([name, values]: [string, unknown]) => {
    const list = Array.isArray(values) && values.length === 0 ? [""] : [values].flat()
    return list.map((value) => `${name}:${String(value)}`)
  })

/** The values of a query parameter. A list repeats the parameter. */
const toParameters = (name: string, value: unknown): ReadonlyArray<[string, string]> => {
  const values =
    name === "where" && typeof value === "object" && value !== null ? toWhere(value) : [value].flat()
  return values.map((one) => [name, String(one)])
}

/** A query string with its `?`, or the empty text when there are no fields. */
export const toQuery = (input: object): string => {
  const query = new URLSearchParams(
    Object.entries(toWire(input)).flatMap(([name, value]) => toParameters(name, value)),
  ).toString()
  return query === "" ? "" : `?${query}`
}
