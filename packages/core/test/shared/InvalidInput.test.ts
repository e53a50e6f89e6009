import {
  ApiKey,
  Customer,
  Input,
  InvalidInput,
  Tenant,
  Threshold,
  UsageRecord,
  UsageSummary,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema, SchemaTransformation } from "effect"

type AnySchema = Parameters<typeof Input.decoder>[0]
type Case = readonly [input: unknown, message: string]

/** A key with all scopes has this many. */
const SCOPES = ApiKey.Scope.literals.length

const customerId = `cus_${"0".repeat(26)}`
const person = { name: "Ada", email: "ada@example.com" }
const usage = { customerId, productId: "api", quantity: 1, unit: "call" }
const period = { customerId, startDate: "2026-01-01", endDate: "2026-01-31", window: "day" }
const threshold = { customerId, productId: "api", unit: "call", quantity: 1n, period: "day" }
const now = DateTime.makeUnsafe(0)
const page: ReadonlyArray<Case> = [
  [{ limit: 0 }, "limit must be an integer from 1 to 100"],
  [{ limit: 101 }, "limit must be an integer from 1 to 100"],
  [{ limit: 1.5 }, "limit must be an integer from 1 to 100"],
  [{ limit: Number.NaN }, "limit must be an integer from 1 to 100"],
  [{ limit: "20" }, "limit must be a number"],
  [{ startingAfter: 1 }, "startingAfter must be a string"],
  [{ endingBefore: null }, "endingBefore must be a string"],
  [{ starting_after: "x" }, "starting_after is not a known field"],
]
const possibleKey = "is not a possible key: 1 to 40 characters, no NUL or lone surrogate, not __proto__"
const quantity = "must be an integer from 0 to 9007199254740991"
const email = "must be an e-mail address: one @, no spaces or control characters"
const date = "must be a date that exists, written YYYY-MM-DD"
const zone = "must be an IANA time zone such as Europe/Berlin"

const schemas: ReadonlyArray<readonly [string, AnySchema, ReadonlyArray<unknown>, ReadonlyArray<Case>]> = [
  [
    "CreateCustomer",
    Customer.CreateCustomer,
    [
      person,
      { ...person, metadata: {} },
      { name: "n".repeat(256), email: `${"e".repeat(252)}@x` },
      { name: "😀".repeat(256), email: "a@b" },
      { ...person, email: `"quoted+tag"@[::1]` },
      { ...person, email: "пример@пример.рф" },
    ],
    [
      [undefined, "input must be object"],
      [null, "input must be object"],
      ["ada", "input must be object"],
      [[person], "input must be object"],
      [{}, "name is required"],
      [{ name: "Ada" }, "email is required"],
      [{ ...person, name: undefined }, "name must be a string"],
      [{ ...person, name: null }, "name must be a string"],
      [{ ...person, name: 1 }, "name must be a string"],
      [{ ...person, name: Promise.resolve("Ada") }, "name is a promise: its await is missing"],
      [{ ...person, metadata: { a: Promise.resolve("b") } }, "metadata.a is a promise: its await is missing"],
      [{ ...person, name: "" }, "name must be 1 to 256 characters"],
      [{ ...person, name: "n".repeat(257) }, "name must be 1 to 256 characters"],
      [{ ...person, name: "a\0" }, "name must not contain NUL or a lone surrogate"],
      [{ ...person, name: "\uD83D" }, "name must not contain NUL or a lone surrogate"],
      [{ ...person, email: "a@" }, "email must be 3 to 254 characters"],
      [{ ...person, email: `${"e".repeat(253)}@x` }, "email must be 3 to 254 characters"],
      [{ ...person, email: "ada" }, `email ${email}`],
      [{ ...person, email: "ada@" }, `email ${email}`],
      [{ ...person, email: "@example.com" }, `email ${email}`],
      [{ ...person, email: "a@b@c" }, `email ${email}`],
      [{ ...person, email: "a b@c" }, `email ${email}`],
      [{ ...person, email: "a@b\n" }, `email ${email}`],
      [{ ...person, email: "a\u00A0@b" }, `email ${email}`],
      [{ ...person, email: "a\u0007@b" }, `email ${email}`],
      [{ ...person, email: "a\u0085@b" }, `email ${email}`],
      [{ ...person, metadata: null }, "metadata must be object"],
      [{ ...person, metadata: ["a"] }, "metadata must be object"],
      [{ ...person, metadata: { plan: 1 } }, "metadata.plan must be a string"],
      [{ ...person, metadata: { "a b": null } }, `metadata["a b"] must be a string`],
      [{ ...person, metadata: { plan: "v".repeat(501) } }, "metadata.plan must be 0 to 500 characters"],
      [{ ...person, metadata: { plan: "\0" } }, "metadata.plan must not contain NUL or a lone surrogate"],
      [{ ...person, metadata: { "": "" } }, `metadata[""] ${possibleKey}`],
      [{ ...person, metadata: { "a\0": "" } }, `metadata["a\\u0000"] ${possibleKey}`],
      [{ ...person, metadata: { ["k".repeat(41)]: "" } }, `metadata.${"k".repeat(41)} ${possibleKey}`],
      [{ ...person, metadata: JSON.parse(`{"__proto__":"x"}`) }, `metadata.__proto__ ${possibleKey}`],
      [
        { ...person, metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, ""])) },
        "metadata must have at most 50 keys",
      ],
      [{ ...person, phone: "1" }, "phone is not a known field"],
      [{ ...person, "e-mail": "1" }, `["e-mail"] is not a known field`],
    ],
  ],
  [
    "UpdateCustomer",
    Customer.UpdateCustomer,
    [{}, { metadata: { plan: null, seats: "3" } }, { metadata: null }, person],
    [
      [{ name: null }, "name must be a string"],
      [{ email: "x" }, "email must be 3 to 254 characters"],
      [{ metadata: "plan" }, "metadata must be object | null"],
      [{ metadata: { plan: 2 } }, "metadata.plan must be string | null"],
      [{ metadata: { "": null } }, `metadata[""] ${possibleKey}`],
      [{ id: customerId }, "id is not a known field"],
    ],
  ],
  [
    "ListCustomers",
    Customer.ListCustomers,
    [{}, { limit: 1 }, { limit: 100, startingAfter: "anything", email: "a@b" }],
    [...page, [{ email: "x y@z" }, `email ${email}`]],
  ],
  [
    "RecordUsage",
    UsageRecord.RecordUsage,
    [
      usage,
      { ...usage, quantity: 0 },
      { ...usage, quantity: Number.MAX_SAFE_INTEGER, timestamp: now, idempotencyKey: "k".repeat(255) },
      { ...usage, productId: "p".repeat(255), unit: "u".repeat(64) },
    ],
    [
      [{}, "customerId is required"],
      [
        { ...usage, customerId: "cus_1" },
        "customerId must be an id that starts with cus_, with 26 lower-case letters and digits after it",
      ],
      [
        { ...usage, customerId: `usg_${"0".repeat(26)}` },
        "customerId must be an id that starts with cus_, with 26 lower-case letters and digits after it",
      ],
      [{ ...usage, productId: "" }, "productId must be 1 to 255 characters"],
      [{ ...usage, productId: "p".repeat(256) }, "productId must be 1 to 255 characters"],
      [{ ...usage, unit: "" }, "unit must be 1 to 64 characters"],
      [{ ...usage, unit: "u".repeat(65) }, "unit must be 1 to 64 characters"],
      [{ ...usage, unit: "\0" }, "unit must not contain NUL or a lone surrogate"],
      [{ ...usage, quantity: -1 }, `quantity ${quantity}`],
      [{ ...usage, quantity: 0.5 }, `quantity ${quantity}`],
      [{ ...usage, quantity: 2 ** 53 }, `quantity ${quantity}`],
      [{ ...usage, quantity: Number.NaN }, `quantity ${quantity}`],
      [{ ...usage, quantity: Number.POSITIVE_INFINITY }, `quantity ${quantity}`],
      [{ ...usage, quantity: "1" }, "quantity must be an integer from 0 to 9007199254740991"],
      [{ ...usage, quantity: 1n }, "quantity must be an integer from 0 to 9007199254740991"],
      [{ ...usage, timestamp: "2026-01-01T00:00:00Z" }, "timestamp must be DateTime.Utc"],
      [{ ...usage, timestamp: null }, "timestamp must be DateTime.Utc"],
      [{ ...usage, idempotencyKey: "" }, "idempotencyKey must be 1 to 255 characters"],
      [{ ...usage, idempotencyKey: "k".repeat(256) }, "idempotencyKey must be 1 to 255 characters"],
      [{ ...usage, idempotencyKey: null }, "idempotencyKey must be a string"],
      [{ ...usage, customer_id: customerId }, "customer_id is not a known field"],
    ],
  ],
  [
    "RecordUsageBatch",
    UsageRecord.RecordUsageBatch,
    [{ records: [usage] }, { records: Array.from({ length: 1_000 }, () => usage) }],
    [
      [{}, "records is required"],
      [{ records: [] }, "records must have 1 to 1000 records"],
      [{ records: Array.from({ length: 1_001 }, () => usage) }, "records must have 1 to 1000 records"],
      [{ records: {} }, "records must be array"],
      [{ records: [usage, null] }, "records[1] must be object"],
      [{ records: [usage, usage, usage, { ...usage, quantity: -1 }] }, `records[3].quantity ${quantity}`],
      [{ records: [usage, { customerId }] }, "records[1].productId is required"],
      [{ records: [{ ...usage, amount: 1 }] }, "records[0].amount is not a known field"],
      [
        {
          records: [
            { ...usage, unit: "" },
            { ...usage, quantity: -1 },
          ],
        },
        "records[0].unit must be 1 to 64 characters",
      ],
    ],
  ],
  [
    "ListUsageRecords",
    UsageRecord.ListUsageRecords,
    [{ customerId }, { customerId, productId: "api", unit: "call", limit: 5 }],
    [
      [{}, "customerId is required"],
      [{ customerId, unit: "" }, "unit must be 1 to 64 characters"],
      [{ customerId, productId: "" }, "productId must be 1 to 255 characters"],
      [{ customerId, limit: 1_000 }, "limit must be an integer from 1 to 100"],
    ],
  ],
  [
    "SummarizeUsage",
    UsageSummary.SummarizeUsage,
    [
      { customerId },
      {
        customerId,
        startDate: "0001-01-01",
        endDate: "9999-12-31",
        timezone: "America/Argentina/ComodRivadavia",
      },
      { customerId, startDate: "2024-02-29", timezone: "Etc/GMT+12" },
    ],
    [
      [{}, "customerId is required"],
      [{ customerId, startDate: "2026-02-30" }, `startDate ${date}`],
      [{ customerId, startDate: "2025-02-29" }, `startDate ${date}`],
      [{ customerId, startDate: "1900-02-29" }, `startDate ${date}`],
      [{ customerId, startDate: "2026-13-01" }, `startDate ${date}`],
      [{ customerId, startDate: "2026-00-01" }, `startDate ${date}`],
      [{ customerId, startDate: "2026-01-00" }, `startDate ${date}`],
      [{ customerId, endDate: "0000-12-31" }, `endDate ${date}`],
      [{ customerId, endDate: "2026-1-1" }, `endDate ${date}`],
      [{ customerId, endDate: "2026-01-01T00:00:00Z" }, `endDate ${date}`],
      [{ customerId, endDate: " 2026-01-01" }, `endDate ${date}`],
      [{ customerId, endDate: "２０２６-01-01" }, `endDate ${date}`],
      [{ customerId, endDate: 20260101 }, "endDate must be a date that exists, written YYYY-MM-DD"],
      [{ customerId, timezone: "" }, `timezone ${zone}`],
      [{ customerId, timezone: "z".repeat(65) }, `timezone ${zone}`],
      [{ customerId, timezone: "Mars/Olympus_Mons" }, `timezone ${zone}`],
      [{ customerId, timezone: "+01:00" }, `timezone ${zone}`],
      [{ customerId, timezone: "GMT+1" }, `timezone ${zone}`],
      [{ customerId, start_date: "2026-01-01" }, "start_date is not a known field"],
    ],
  ],
  [
    "SeriesUsage",
    UsageSummary.SeriesUsage,
    [
      period,
      { ...period, window: "hour", groupBy: "product_id", unit: "call", productId: "api", timezone: "UTC" },
    ],
    [
      [{ customerId }, "startDate is required"],
      [{ customerId, startDate: "2026-01-01" }, "endDate is required"],
      [{ ...period, window: undefined }, `window must be "hour" | "day" | "month"`],
      [{ ...period, window: "week" }, `window must be "hour" | "day" | "month"`],
    ],
  ],
  [
    "CreateThreshold",
    Threshold.CreateThreshold,
    [
      threshold,
      { ...threshold, quantity: 10n ** 30n, period: "lifetime" },
      { ...threshold, period: "month" },
    ],
    [
      [{}, "customerId is required"],
      [{ ...threshold, productId: "" }, "productId must be 1 to 255 characters"],
      [{ ...threshold, unit: "" }, "unit must be 1 to 64 characters"],
      [{ ...threshold, quantity: 0n }, "quantity must be an integer from 1 to 10^30"],
      [{ ...threshold, quantity: -1n }, "quantity must be an integer from 1 to 10^30"],
      [{ ...threshold, quantity: 10n ** 30n + 1n }, "quantity must be an integer from 1 to 10^30"],
      [{ ...threshold, quantity: 1 }, "quantity must be bigint"],
      [{ ...threshold, period: "week" }, `period must be "day" | "month" | "lifetime"`],
    ],
  ],
  [
    "ListThresholds",
    Threshold.ListThresholds,
    [{}, { customerId, limit: 3 }],
    [
      ...page,
      [
        { customerId: "thr_1" },
        "customerId must be an id that starts with cus_, with 26 lower-case letters and digits after it",
      ],
    ],
  ],
  [
    "IssueApiKey",
    ApiKey.IssueApiKey,
    [
      { name: "n".repeat(128) },
      { name: "ci", scopes: ["events:read"], expiresAt: now },
      { name: "ci", scopes: ["usage:*"] },
    ],
    [
      [{}, "name is required"],
      [{ name: "" }, "name must be 1 to 128 characters"],
      [{ name: "n".repeat(129) }, "name must be 1 to 128 characters"],
      [{ name: "ci", scopes: "usage:*" }, "scopes must be array"],
      [
        { name: "ci", scopes: [] },
        "scopes must have at least one scope: leave them out for a key that may do everything",
      ],
      [
        { name: "ci", scopes: ["usage:read", "usage:delete"] },
        "scopes[1] must be a scope such as customers:read or usage:*",
      ],
      [{ name: "ci", scopes: ["*"] }, "scopes[0] must be a scope such as customers:read or usage:*"],
      [
        { name: "ci", scopes: Array.from({ length: SCOPES + 1 }, () => "usage:*") },
        `scopes must have at most ${SCOPES} scopes`,
      ],
      [{ name: "ci", expiresAt: null }, "expiresAt must be DateTime.Utc"],
      [{ name: "ci", expires_at: now }, "expires_at is not a known field"],
    ],
  ],
  [
    "RollApiKey",
    ApiKey.RollApiKey,
    [{}, { graceMillis: 0 }, { graceMillis: 604_800_000 }],
    [
      [{ graceMillis: -1 }, "graceMillis must be an integer from 0 to 604800000 (7 days)"],
      [{ graceMillis: 0.5 }, "graceMillis must be an integer from 0 to 604800000 (7 days)"],
      [{ graceMillis: 604_800_001 }, "graceMillis must be an integer from 0 to 604800000 (7 days)"],
      [{ graceMillis: "1" }, "graceMillis must be a number"],
    ],
  ],
  ["ListApiKeys", ApiKey.ListApiKeys, [{}, { limit: 1 }], page],
  [
    "AccountId",
    Tenant.AccountId,
    ["default", "A-z_0", "a".repeat(64)],
    [
      ["", "input must be 1 to 64 letters, digits, - or _"],
      ["a".repeat(65), "input must be 1 to 64 letters, digits, - or _"],
      ["a:b", "input must be 1 to 64 letters, digits, - or _"],
      ["é", "input must be 1 to 64 letters, digits, - or _"],
      ["a\n", "input must be 1 to 64 letters, digits, - or _"],
      [1, "input must be a string"],
    ],
  ],
  ["Mode", Tenant.Mode, ["live", "test"], [["Live", `input must be "live" | "test"`]]],
]

describe.each(schemas)("%s", (_, schema, good, bad) => {
  const decode = Input.decoder(schema)

  it.effect("accepts what keeps its rules", () =>
    Effect.gen(function* () {
      for (const input of good) assert.deepStrictEqual(yield* decode(input), input)
    }),
  )

  it.effect("names what breaks a rule", () =>
    Effect.gen(function* () {
      const messages = yield* Effect.forEach(bad, ([input]) => Effect.flip(decode(input)))
      assert.deepStrictEqual(
        messages.map((error) => error.message),
        bad.map(([, message]) => message),
      )
      assert.isTrue(messages.every((error) => error instanceof InvalidInput))
    }),
  )
})

describe("a problem", () => {
  const Nested = Schema.Struct({
    first: Schema.Struct({ list: Schema.Array(Schema.Struct({ n: Schema.Int })) }),
    second: Schema.String,
  })

  it.effect("is the first one of several", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Input.decoder(Nested)({ first: { list: [{ n: 1 }, { n: "x" }, {}] } }))
      assert.strictEqual(error.field, "first.list[1].n")
      assert.strictEqual(error.problem, "must be a number")
    }),
  )

  it.effect("has the name that the caller gives to the whole input when it has no path", () =>
    Effect.gen(function* () {
      const { issue } = yield* Effect.flip(Schema.decodeUnknownEffect(Nested)(null))
      assert.strictEqual(Input.fromIssue(issue, "body").message, "body must be object")
      assert.strictEqual(Input.fromIssue(issue).message, "input must be object")
    }),
  )

  it.effect("never repeats the input", () =>
    Effect.gen(function* () {
      const secret = "correct horse battery staple"
      for (const input of [secret, { first: secret, second: 1 }, { first: { list: secret } }]) {
        const error = yield* Effect.flip(Input.decoder(Nested)(input))
        assert.notInclude(JSON.stringify(error) + error.message, secret)
      }
    }),
  )
})

describe("a value that holds itself, or far more than it seems", () => {
  const decode = Input.decoder(Schema.Struct({ name: Schema.String, data: Schema.Unknown }))
  const circular: Record<string, unknown> = { name: "a" }
  circular["self"] = circular
  /** 2^64 fields, of 64 objects. */
  const shared = Array.from({ length: 64 }).reduce((inner: unknown) => ({ a: inner, b: inner }), 1)
  const deep = Array.from({ length: 100_000 }).reduce((inner: unknown) => [inner], 1)

  it.effect.each([circular, shared, deep])("is decoded where anything may stand", (data) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* decode({ name: "x", data })).data, data)
    }),
  )

  it.effect.each([circular, shared, deep])("hides no unknown field", (data) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(decode({ name: "x", data, more: 1 }))
      assert.strictEqual(error.message, "more is not a known field")
    }),
  )
})

describe("an unknown field", () => {
  const words = Schema.String.pipe(
    Schema.decodeTo(
      Schema.Array(Schema.String),
      SchemaTransformation.transform({
        decode: (text: string): ReadonlyArray<string> => text.split(" "),
        encode: (list: ReadonlyArray<string>) => list.join(" "),
      }),
    ),
  )

  it.effect("is not made up for by the elements that a text is taken apart to", () =>
    Effect.gen(function* () {
      const decode = Input.strictDecoder(Schema.Struct({ words }))
      assert.deepStrictEqual(yield* decode({ words: "a b" }), { words: ["a", "b"] })
      for (const text of ["a", "a b"]) {
        const error = yield* Effect.flip(decode({ words: text, more: 1 }))
        assert.strictEqual(error.message, "more is not a known field")
      }
    }),
  )
})

describe("a path", () => {
  it.each([
    [["records", 3, "quantity"], "records[3].quantity"],
    [["customerId"], "customerId"],
    [["records", 0], "records[0]"],
    [[0, "a"], "[0].a"],
    [["metadata", "a b"], `metadata["a b"]`],
    [["metadata", "_a1"], "metadata._a1"],
    [["metadata", "1a"], `metadata["1a"]`],
    [["metadata", ""], `metadata[""]`],
    [["metadata", `"quoted"`], String.raw`metadata["\"quoted\""]`],
    [["metadata", "\uD800"], String.raw`metadata["\ud800"]`],
    [["a-b", "c"], `["a-b"].c`],
    [[], ""],
  ] as const)("%j is written %s", (path, text) => {
    assert.strictEqual(Input.fieldPath(path), text)
  })
})
