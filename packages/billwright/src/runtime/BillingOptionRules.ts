/**
 * Checks the options of `createBilling`.
 */
import { EndpointVerification, NetworkAddress, Payment, Tenant } from "@billwright/core"
import { Option } from "effect"
import type { BillingOptions } from "../BillingOptions.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import {
  anything,
  argument,
  boolean,
  fields,
  integer,
  listOfText,
  must,
  number,
  type Rule,
} from "./OptionRules.ts"
import { coreOf } from "./ProviderParts.ts"

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

const sendingRules = {
  certificateAuthorities: listOfText,
  // The URL is checked where it is read, so that no message has its password.
  proxy: must((value) => typeof value === "string", "the URL of an HTTP proxy"),
  // The parts are checked where they are used, so that no message has the key.
  clientCertificate: fields(
    {
      certificate: must((value) => typeof value === "string", "a certificate in PEM"),
      key: must((value) => typeof value === "string", "its private key in PEM"),
      passphrase: must((value) => value === undefined || typeof value === "string", "text"),
    },
    true,
  ),
}

const verificationFields = fields({
  origin: must(
    (value) => typeof value === "string" && EndpointVerification.problemOfOrigin(value) === undefined,
    "a host name that stands for the sender, such as billing.example.com",
  ),
  ...sendingRules,
})

const verifyEndpoints: Rule = (value, name) => {
  verificationFields(value, name)
  const { origin } = value as { readonly origin?: unknown }
  if (origin === undefined)
    throw new ConfigurationError(`${name} needs origin, a host name that stands for the sender`)
}

const dispatcherSettings = fields({
  maxInFlight: integer(1),
  maxInFlightPerEndpoint: integer(1),
  maxStalled: integer(1),
  retries: fields({ live: retryPolicy, test: retryPolicy }, true),
  userAgent: must(
    (value) => typeof value === "string" && /^[\x20-\x7e]+$/.test(value),
    "text of printable ASCII characters",
  ),
  ...sendingRules,
})

const dispatcher: Rule = (value, name) => {
  if (typeof value === "object" && value !== null) return dispatcherSettings(value, name)
  must((given) => typeof given === "boolean" || given === "manual", 'true, false, "manual" or settings')(
    value,
    name,
  )
}

const rateLimitFields = fields({
  requestsPerSecond: number((value) => value > 0, "a number above 0"),
  burst: integer(1),
})

const rateLimit: Rule = (value, name) => {
  rateLimitFields(value, name)
  const { requestsPerSecond } = value as { readonly requestsPerSecond?: unknown }
  if (requestsPerSecond === undefined)
    throw new ConfigurationError(`${name} needs requestsPerSecond, a number above 0`)
}

/** A table is checked by the engine, which names what is wrong in it. */
const tax = must(
  (value) =>
    typeof value === "object" && value !== null && (!("quote" in value) || typeof value.quote === "function"),
  "a table of taxes, or an object with the function quote",
)

const PROVIDER_CALLS = [
  "chargeable",
  "openPayment",
  "attemptPayment",
  "readPayment",
  "closePayment",
  "refund",
  "readRefund",
  "readDispute",
  "receive",
]
const METHOD_CALLS = ["ensureCustomer", "startSetup", "readSetup", "detachMethod"]

const hasFunctions = (value: object, names: ReadonlyArray<string>): boolean =>
  names.every((name) => typeof (value as Record<string, unknown>)[name] === "function")

const payments = must(
  (value) => coreOf(value) !== undefined || isProvider(value),
  `a payment provider: stripe(…) of billwright/stripe; fakePayments() of billwright/testing, in tests; or an object with a name of 1 to 64 characters other than manual, and the functions ${PROVIDER_CALLS.join(", ")}; if it has methods, these have the functions ${METHOD_CALLS.join(", ")}`,
)

const isProvider = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  typeof value.name === "string" &&
  /^[\x21-\x7e]{1,64}$/.test(value.name) &&
  value.name !== Payment.MANUAL_PROVIDER &&
  hasFunctions(value, PROVIDER_CALLS) &&
  (!("methods" in value) ||
    value.methods === undefined ||
    (typeof value.methods === "object" &&
      value.methods !== null &&
      hasFunctions(value.methods, METHOD_CALLS)))

const rules = {
  accountId: must(
    (value) => Option.isSome(Tenant.AccountId.makeOption(value as string)),
    "1 to 64 letters, digits, - or _",
  ),
  // Units are checked by core, which names the option.
  credits: fields({ units: anything }),
  dispatcher,
  encryptionKeys: anything,
  events: must(Array.isArray, "a list of event types made by defineEvent"),
  http: fields({
    rateLimit,
    accounts: fields({ rateLimit, heavyReads: integer(1) }),
    idempotencyMillis: integer(1),
    trustedProxies: must(
      (value) =>
        Array.isArray(value) &&
        value.every((text) => NetworkAddress.parseNetwork(String(text)) !== undefined),
      'a list of networks such as "10.20.0.0/16"',
    ),
  }),
  // Formats, days, zones and tables are checked by the engine, which names the option.
  invoices: fields({
    numberFormat: anything,
    creditNoteFormat: anything,
    timezone: anything,
    netDays: anything,
    whenExhausted: anything,
    tax,
    seller: anything,
    locale: anything,
  }),
  keyManagement: must(
    (value) => typeof value === "object" && value !== null && hasFunctions(value, ["decrypt"]),
    "an object with the function decrypt",
  ),
  keys: fields({
    pepper: must((value) => typeof value === "string" && value !== "", "text that is not empty"),
    cacheMillis: integer(0, 3_000),
    maxAgeMillis: integer(60_000),
  }),
  log: must((value) => typeof value === "function" || value === false, "a function or false"),
  mode: must((value) => value === "live" || value === "test", '"live" or "test"'),
  nightlyBookChecks: boolean,
  payments,
  // Keys and address are checked where they are used.
  payerPages: fields({ url: anything, keys: anything }, true),
  network: fields({ allow: listOfText, allowLoopback: boolean, decodeNat64: boolean }),
  // The key is checked where it is read, so that no message has it.
  proofKey: must((value) => typeof value === "string", "a key that generateProofKey made"),
  store: anything,
  usage: fields({ maxPastMillis: integer(0) }),
  verifyEndpoints,
} satisfies Record<keyof BillingOptions, Rule>

const checkArgument = argument(rules)

/** Throws a `ConfigurationError` that names the option and says what it must be. */
export const check = (given: unknown): void => {
  if (typeof given !== "object" || given === null) {
    throw new ConfigurationError("createBilling needs options: createBilling({ store: memory() })")
  }
  checkArgument(given, "createBilling")
}

const { network: _, ...rulesOfTests } = rules
const text = must((value) => typeof value === "string", "the text that exportCustomer has given")

/** The same for `createTestBilling`. It has no `network` option, and always sends webhooks on demand. */
export const checkOfTest: (given: unknown) => void = (given) =>
  argument({ now: anything, snapshot: text, ...rulesOfTests, dispatcher: dispatcherSettings })(
    given,
    "createTestBilling",
  )
