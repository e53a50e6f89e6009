/**
 * What the options of `createBilling` may be, said at the start and not by what goes wrong later.
 */
import { ConfigurationError } from "../errors/RuntimeError.ts"

/** Throws a `ConfigurationError` when a value is wrong. `name` is the option's, for its sentence. */
type Rule = (value: unknown, name: string) => void

export const must =
  (isRight: (value: unknown) => boolean, be: string): Rule =>
  (value, name) => {
    if (!isRight(value)) throw new ConfigurationError(`${name} must be ${be}`)
  }

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER): Rule =>
  must(
    (value) => Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum,
    maximum === Number.MAX_SAFE_INTEGER
      ? `an integer of at least ${minimum}`
      : `an integer from ${minimum} to ${maximum}`,
  )

const number = (isRight: (value: number) => boolean, be: string): Rule =>
  must((value) => typeof value === "number" && Number.isFinite(value) && isRight(value), be)

const listOfText = must(
  (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  "a list of texts",
)
export const boolean = must((value) => typeof value === "boolean", "true or false")
/** Looked at by what they are for. */
export const anything: Rule = () => {}

/** An object with these fields and no others. Each may be left out, unless the object is to be whole. */
export const fields =
  (rules: Readonly<Record<string, Rule>>, isWhole = false): Rule =>
  (value, name) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new ConfigurationError(`${name} must be an object of ${Object.keys(rules).join(", ")}`)
    }
    const unknown = Object.keys(value).find((field) => !Object.hasOwn(rules, field))
    if (unknown !== undefined) {
      throw new ConfigurationError(
        `${name} has no option "${unknown}": there are ${Object.keys(rules).join(", ")}`,
      )
    }
    for (const [field, rule] of Object.entries(rules)) {
      const given = (value as Record<string, unknown>)[field]
      if (given !== undefined || isWhole) rule(given, name === ROOT ? field : `${name}.${field}`)
    }
  }

const ROOT = "createBilling"

const retryPolicy = fields(
  {
    baseMillis: integer(0),
    factor: number((value) => value >= 1, "a number of at least 1"),
    capMillis: integer(0),
    maxAttempts: integer(1),
    jitter: number((value) => value >= 0 && value <= 1, "a number from 0 to 1"),
  },
  true,
)

const dispatcherSettings = fields({
  maxInFlight: integer(1),
  maxInFlightPerEndpoint: integer(1),
  retries: fields({ live: retryPolicy, test: retryPolicy }, true),
  userAgent: must(
    (value) => typeof value === "string" && /^[\x20-\x7e]+$/.test(value),
    "text of printable ASCII characters",
  ),
  certificateAuthorities: listOfText,
})

const dispatcher: Rule = (value, name) => {
  if (typeof value === "object" && value !== null) return dispatcherSettings(value, name)
  must((given) => typeof given === "boolean" || given === "manual", 'true, false, "manual" or settings')(
    value,
    name,
  )
}

const rateLimit = fields({
  requestsPerSecond: number((value) => value > 0, "a number above 0"),
  burst: integer(1),
})

const options = fields({
  accountId: anything,
  dispatcher,
  encryptionKeys: anything,
  events: must(Array.isArray, "a list of what defineEvent gives"),
  http: fields({
    rateLimit: (value, name) => {
      rateLimit(value, name)
      const { requestsPerSecond } = value as { readonly requestsPerSecond?: unknown }
      if (requestsPerSecond === undefined)
        throw new ConfigurationError(`${name} needs requestsPerSecond, a number above 0`)
    },
    idempotencyMillis: integer(1),
  }),
  keys: fields({
    pepper: must((value) => typeof value === "string" && value !== "", "text that is not empty"),
    cacheMillis: integer(0, 5_000),
  }),
  log: must((value) => typeof value === "function" || value === false, "a function or false"),
  mode: must((value) => value === "live" || value === "test", '"live" or "test"'),
  network: fields({ allow: listOfText, decodeNat64: boolean }),
  store: anything,
  usage: fields({ maxPastMillis: integer(0) }),
})

/** Throws a `ConfigurationError` that names the option and says what it must be. */
export const check = (given: unknown): void => {
  if (typeof given !== "object" || given === null) {
    throw new ConfigurationError("createBilling takes options: createBilling({ store: memory() })")
  }
  options(given, ROOT)
}
