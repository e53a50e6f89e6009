/**
 * `consume_credits` and `commit_hold`, called as any language does: by statements alone. They are compared with the library.
 */
import {
  AutoTopUps,
  Billing,
  type Credit,
  CreditAlerts,
  CreditAudit,
  Credits,
  CurrentTenant,
  Customers,
  Hold,
  Holds,
  Id,
  type Tenant,
  type TestClock,
  TestClocks,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import * as fc from "fast-check"
import { Client, type DatabaseError, Pool } from "pg"
import * as TestDatabase from "./TestDatabase.ts"

const HISTORIES = 30
const CALLERS = 64
const UNIT = "token"
const LEVELS = [4n, 9n, 15n]

const scope = Scope.makeUnsafe()
let url: string
let client: Client
let runtime: ManagedRuntime.ManagedRuntime<Billing.Services | Billing.Storage, unknown>

beforeAll(async () => {
  url = await Effect.runPromise(Scope.provide(TestDatabase.make, scope))
  runtime = ManagedRuntime.make(
    Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    ),
  )
  await runtime.runPromise(Effect.void)
  client = new Client({ connectionString: url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await runtime.dispose()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

type Services = Billing.Services | Billing.Storage | CurrentTenant
const run = <A, E>(effect: Effect.Effect<A, E, Services>, mode: Tenant.Mode = "test"): Promise<A> =>
  runtime.runPromise(
    Effect.provideService(effect, CurrentTenant, {
      accountId: "default" as Tenant.AccountId,
      mode,
    }),
  )

/** The rows of a statement. */
const query = async (text: string, values: ReadonlyArray<unknown> = [], on: Pick<Client, "query"> = client) =>
  (await on.query<Record<string, unknown>>(text, [...values])).rows

/** What a function answers, or what it says of an error. */
type Answer = Readonly<Record<string, unknown>> & { readonly error?: string | undefined }

const call = async (
  text: string,
  values: ReadonlyArray<unknown>,
  on: Pick<Client, "query"> = client,
): Promise<Answer> => {
  try {
    const [row] = await query(`select (billwright.${text})::text as answer`, values, on)
    return JSON.parse(String(row!["answer"])) as Answer
  } catch (error) {
    const { code = "", detail, message } = error as DatabaseError
    if (!code.startsWith("BW")) throw error
    return { error: code, detail, message }
  }
}
const consumeBySql = (values: ReadonlyArray<unknown>, on?: Pick<Client, "query">) =>
  call("consume_credits('default', $1, $2, $3, $4::numeric, $5)", values, on)
const commitBySql = (values: ReadonlyArray<unknown>, on?: Pick<Client, "query">) =>
  call("commit_hold('default', $1, $2, $3::numeric, $4)", values, on)

const CODES: Readonly<Record<string, string>> = {
  InvalidInput: "BW400",
  InsufficientCredits: "BW402",
  CustomerNotFound: "BW404",
  HoldNotFound: "BW404",
  CreditKeyConflict: "BW409",
  ActionUnavailable: "BW409",
}

/** What the library answers, in the same form. */
const answered = <A>(
  effect: Effect.Effect<A, { readonly _tag: string; readonly message: string }, Services>,
  render: (value: A) => Answer,
): Promise<Answer> =>
  run(
    effect.pipe(
      Effect.map(render),
      Effect.catch(({ _tag, message }) => {
        const code = CODES[_tag]
        return code === undefined ? Effect.die(_tag) : Effect.succeed<Answer>({ error: code, message })
      }),
    ),
  )

const consumptionBody = (value: Credit.Consumption): Answer => ({
  object: "credit_consumption",
  id: value.id,
  customer_id: value.customerId,
  unit: value.unit,
  amount: Number(value.amount),
  purpose: value.purpose,
  idempotency_key: value.idempotencyKey,
  balance: {
    available: Number(value.balance.available),
    held: Number(value.balance.held),
    debt: Number(value.balance.debt),
  },
  livemode: false,
  created_at: DateTime.formatIso(value.createdAt),
})
const holdBody = (value: Hold.Hold): Answer => ({
  object: "hold",
  id: value.id,
  customer_id: value.customerId,
  unit: value.unit,
  amount: Number(value.amount),
  purpose: value.purpose,
  status: value.status,
  committed: value.committed === null ? null : Number(value.committed),
  is_late: value.isLate,
  expires_at: DateTime.formatIso(value.expiresAt),
  settled_at: value.settledAt && DateTime.formatIso(value.settledAt),
  idempotency_key: value.idempotencyKey,
  livemode: false,
  created_at: DateTime.formatIso(value.createdAt),
})

const small = (max: number) => fc.integer({ min: 1, max })
const step = fc.oneof(
  fc.record({
    type: fc.constant("grant" as const),
    amount: small(30),
    priority: fc.integer({ min: 0, max: 1 }),
    begins: fc.integer({ min: 0, max: 3 }),
    length: fc.option(small(6), { nil: undefined }),
    scope: fc.constantFrom(undefined, undefined, ["images"], ["images", "chat"]),
    rollover: fc.option(fc.record({ maximum: fc.integer({ min: 0, max: 8 }), length: small(4) }), {
      nil: undefined,
    }),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("consume" as const),
      amount: small(12),
      key: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    }),
  },
  fc.record({
    type: fc.constant("reserve" as const),
    amount: small(12),
    length: small(6),
    purpose: fc.constantFrom(undefined, "images", "chat"),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("commit" as const),
      hold: fc.integer({ min: 0, max: 4 }),
      amount: fc.option(fc.integer({ min: 0, max: 18 }), { nil: undefined }),
      overdraft: fc.constantFrom("debt" as const, "refuse" as const),
    }),
  },
  fc.record({ type: fc.constant("release" as const), hold: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ type: fc.constant("void" as const) }),
  { weight: 2, arbitrary: fc.record({ type: fc.constant("wait" as const), length: small(3) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** An account, and the ids of its holds in the order in which they were made. */
interface Played {
  readonly customerId: string
  readonly holds: Array<string>
}

const account = ({ customerId }: Played) => ({
  customerId: customerId as Credit.AccountKey["customerId"],
  unit: UNIT,
})
const holdOf = ({ holds }: Played, index: number) =>
  holds[index % (holds.length + 1)] ?? `hld_${"0".repeat(26)}`
const keyOf = (key: number | undefined) => (key === undefined ? {} : { idempotencyKey: String(key) })

const grant = (played: Played, given: Extract<Step, { type: "grant" }>) =>
  Effect.gen(function* () {
    const { amount, begins, length, priority, rollover, scope: paid } = given
    const now = (yield* nowOf).now
    const effectiveAt = DateTime.add(now, { seconds: begins })
    const end = length === undefined ? {} : { expiresAt: DateTime.add(effectiveAt, { seconds: length }) }
    const made = yield* (yield* Credits).grant({
      ...account(played),
      kind: "promotional",
      amount: BigInt(amount),
      priority,
      effectiveAt,
      ...end,
      ...(paid === undefined ? {} : { scope: paid }),
    })
    // Only plans make grants with a rollover.
    if (rollover !== undefined && length !== undefined) {
      yield* Effect.promise(() =>
        query(
          `update billwright.billing_credit_grants g
set rollover_maximum = $2, rollover_expires_at = g.expires_at + $3 * interval '1 second' where g.id = $1`,
          [Id.toUuid(made.id), rollover.maximum, rollover.length],
        ),
      )
    }
    return { status: made.status }
  })

let clockId: TestClock.TestClock["id"]
const nowOf = Effect.suspend(() => Effect.flatMap(TestClocks, (clocks) => clocks.get(clockId)))

/** Does by the library what only the library does. */
const perform = (played: Played, given: Step) => {
  const effect = Effect.gen(function* () {
    const [credits, holds] = [yield* Credits, yield* Holds]
    switch (given.type) {
      case "grant":
        return yield* grant(played, given)
      case "reserve": {
        const { amount, length, purpose } = given
        const used = purpose === undefined ? {} : { purpose }
        const asked = { ...account(played), ...used, amount: BigInt(amount), ttlSeconds: length }
        const hold = yield* holds.reserve(asked)
        played.holds.push(hold.id)
        return { status: hold.status }
      }
      case "release":
        return { status: (yield* holds.release(holdOf(played, given.hold))).status }
      case "void": {
        const [found] = (yield* credits.listGrants({ ...account(played), limit: 1 })).data
        return { status: found === undefined ? "none" : (yield* credits.voidGrant(found.id)).status }
      }
      default:
        return {}
    }
  })
  return run(Effect.catch(effect, (error) => Effect.succeed({ error: (error as { _tag: string })._tag })))
}

const callSql = (played: Played, given: Step): Promise<Answer> => {
  switch (given.type) {
    case "consume":
      return consumeBySql(["test", played.customerId, UNIT, given.amount, given.key ?? null])
    case "commit":
      return commitBySql(["test", holdOf(played, given.hold), given.amount ?? null, given.overdraft])
    default:
      return perform(played, given)
  }
}

const callLibrary = (played: Played, given: Step): Promise<Answer> => {
  switch (given.type) {
    case "consume": {
      const asked = { ...account(played), amount: BigInt(given.amount), ...keyOf(given.key) }
      return answered(
        Effect.flatMap(Credits, (credits) => credits.consume(asked)),
        consumptionBody,
      )
    }
    case "commit": {
      const { amount, overdraft } = given
      const asked = { overdraft, ...(amount === undefined ? {} : { amount: BigInt(amount) }) }
      return answered(
        Effect.flatMap(Holds, (holds) => holds.commit(holdOf(played, given.hold), asked)),
        holdBody,
      )
    }
    default:
      return perform(played, given)
  }
}

const TABLES = ["accounts", "grants", "holds", "consumptions", "entries"]

/** Names for the ids of an account, in the order in which things were made, by each of their two forms. */
const namesOf = async ({ customerId }: Played): Promise<ReadonlyMap<string, string>> => {
  const uuid = Id.toUuid(customerId)
  const made = await query(
    `select * from (
  select 'cgr' as prefix, id, row_number() over (order by id) as n from billwright.billing_credit_grants where customer_id = $1
  union all
  select 'hld', id, row_number() over (order by id) from billwright.billing_credit_holds where customer_id = $1
  union all
  select 'cal', id, row_number() over (order by id) from billwright.credit_alerts where customer_id = $1
  union all
  select 'ccn', consumption_id, row_number() over (order by min(sequence)) from billwright.billing_credit_entries
  where customer_id = $1 and consumption_id is not null group by consumption_id
) as i`,
    [uuid],
  )
  const all = [...made, { prefix: "cus", id: uuid, n: 1 }]
  return new Map(
    all.flatMap(({ id, n, prefix }) => {
      const name = `${String(prefix)} ${String(n)}`
      return [[String(id), name] as const, [Id.fromUuid(String(prefix), String(id)), name] as const]
    }),
  )
}

/** A text with names for ids. */
const named = (names: ReadonlyMap<string, string>, text: string): string =>
  text.replaceAll(
    /[a-z]{3}_[0-9a-z]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    (id) => names.get(id) ?? "an id",
  )

/** What is stored of an account, with names for ids: its rows, its events to the byte, and its top-ups that are looked at. */
const storedOf = async (played: Played): Promise<ReadonlyArray<string>> => {
  const uuid = Id.toUuid(played.customerId)
  const names = await namesOf(played)
  const rows: Array<ReadonlyArray<Record<string, unknown>>> = []
  for (const table of TABLES) {
    const all = `select to_jsonb(t)::text as row from billwright.billing_credit_${table} t where t.customer_id = $1`
    rows.push(await query(all, [uuid]))
  }
  const events = await query(
    `select substring(payload from position(',"livemode"' in payload)) as row, type from billwright.events
where customer_id = $1 and type like 'credit.%' order by xid, id`,
    [uuid],
  )
  const due = await query(
    `select extract(epoch from d.due_at)::text as row from billwright.billing_due d
join billwright.auto_top_ups t on t.id = d.id where t.customer_id = $1`,
    [uuid],
  )
  return [
    ...rows.flatMap((all) => all.map(({ row }) => named(names, String(row))).sort()),
    ...events.map(({ row, type }) => `${String(type)} ${named(names, String(row))}`),
    ...due.map(({ row }) => `due at ${String(row)}`),
  ]
}

const newAccount = (): Promise<Played> =>
  run(
    Effect.gen(function* () {
      const { id } = yield* (yield* Customers).create({
        name: "Ada",
        email: "ada@example.com",
        testClockId: clockId,
      })
      for (const level of LEVELS) yield* (yield* CreditAlerts).create({ customerId: id, unit: UNIT, level })
      yield* (yield* AutoTopUps).create({
        customerId: id,
        unit: UNIT,
        amount: 10n,
        currency: "EUR",
        price: 100n,
        level: 6n,
      })
      return { customerId: id, holds: [] }
    }),
  )

const comparable = async (played: Played, answer: Answer) =>
  named(await namesOf(played), JSON.stringify(answer, Object.keys(answer).sort()))
    .replace("the idempotency key", "idempotency_key")
    .replace(/"id":"(ccn|an id)/, '"id":"ccn')

const newClock = async (): Promise<void> => {
  clockId = await run(Effect.flatMap(TestClocks, (clocks) => Effect.map(clocks.create({}), ({ id }) => id)))
}

const reserving = (amount: number, length: number): Step => ({
  type: "reserve",
  amount,
  length,
  purpose: undefined,
})

/** Uses credits of a customer who is erased, and commits a hold from before. Gives the answers. */
const useErased = async (
  played: Played,
  answer: (played: Played, given: Step) => Promise<Answer>,
): Promise<ReadonlyArray<Answer>> => {
  await perform(played, reserving(1, Hold.MAX_TTL_SECONDS))
  await run(Effect.flatMap(Customers, (customers) => customers.erase(played.customerId as never)))
  const used = await answer(played, { type: "consume", amount: 1, key: undefined })
  const last = Math.max(played.holds.length - 1, 0)
  const committed = await answer(played, { type: "commit", hold: last, amount: 1, overdraft: "debt" })
  // An erased customer has no test clock: both are in real time.
  const { settled_at: _, detail: __, ...rest } = committed
  return [{ error: used.error }, rest]
}

/** Plays a history by both ways, and gives what was answered. */
const play = async (history: ReadonlyArray<Step>): Promise<ReadonlyArray<Answer>> => {
  await newClock()
  const [left, right] = [await newAccount(), await newAccount()]
  await query("delete from billwright.billing_due where kind = 'auto_top_up'")
  const answers: Array<Answer> = []
  for (const one of history) {
    if (one.type === "wait") {
      const forward = "update billwright.test_clocks set now = now + $2 * interval '1 second' where id = $1"
      await query(forward, [Id.toUuid(clockId), one.length])
      continue
    }
    const { detail: _, ...bySql } = await callSql(left, one)
    const byLibrary = await callLibrary(right, one)
    const said = JSON.stringify(one)
    assert.strictEqual(await comparable(left, bySql), await comparable(right, byLibrary), said)
    assert.deepStrictEqual(await storedOf(left), await storedOf(right), said)
    await query("delete from billwright.billing_due where kind = 'auto_top_up'")
    answers.push({ ...bySql, type: one.type })
  }
  const erased = [await useErased(left, callSql), await useErased(right, callLibrary)] as const
  assert.deepStrictEqual(erased[0][0], { error: "BW404" })
  assert.strictEqual(await comparable(left, erased[0][1]!), await comparable(right, erased[1][1]!))
  return answers
}

const granting = (amount: number, begins: number, length?: number): Step => ({
  type: "grant",
  amount,
  priority: 1,
  begins,
  length,
  scope: undefined,
  rollover: undefined,
})
/** What rarely comes of generated histories: holds lapse when their grants end, and when others begin that repay a debt. */
const AT_ONE_INSTANT: ReadonlyArray<Step> = [
  granting(20, 0, 4),
  granting(9, 4),
  reserving(6, 4),
  reserving(5, 2),
  { type: "commit", hold: 1, amount: 30, overdraft: "debt" },
  { type: "wait", length: 3 },
  { type: "wait", length: 1 },
  { type: "consume", amount: 1, key: 1 },
  granting(12, 0),
  { type: "consume", amount: 1, key: 1 },
]

describe("consume_credits and commit_hold", () => {
  it("give the answers, the rows, the events and the errors of the library, in generated histories", async () => {
    const histories = fc.sample(fc.array(step, { minLength: 8, maxLength: 24 }), {
      numRuns: HISTORIES,
      seed: 21,
    })
    const seen = new Set<string>()
    for (const history of [AT_ONE_INSTANT, ...histories]) {
      for (const { error, is_late: isLate, type } of await play([granting(30, 0, 5), ...history])) {
        seen.add([type, error ?? "done", isLate === true ? "late" : ""].join(" ").trim())
      }
    }
    const wanted = ["done", "BW402", "BW409"].flatMap((end) => [`consume ${end}`, `commit ${end}`])
    for (const one of [...wanted, "commit BW404", "commit done late"])
      assert.isTrue(seen.has(one), `${one}: ${[...seen].join(", ")}`)
  }, 600_000)

  it("name the argument that breaks a rule", async () => {
    const nobody = `cus_${"0".repeat(26)}`
    const consumptions: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
      ["mode", ["prod", nobody, UNIT, 1, null]],
      ["customer_id", ["live", "cus_1", UNIT, 1, null]],
      ["customer_id", ["live", null, UNIT, 1, null]],
      ["unit", ["live", nobody, "Token", 1, null]],
      ["unit", ["live", nobody, "XXX", 1, null]],
      ["unit", ["live", nobody, null, 1, null]],
      ["unit", ["live", nobody, "x".repeat(65), 1, null]],
      ["amount", ["live", nobody, UNIT, 0, null]],
      ["amount", ["live", nobody, UNIT, "1.5", null]],
      ["amount", ["live", nobody, UNIT, "NaN", null]],
      ["amount", ["live", nobody, UNIT, "Infinity", null]],
      ["amount", ["live", nobody, UNIT, `1${"0".repeat(29)}01`, null]],
      ["amount", ["live", nobody, UNIT, null, null]],
      ["idempotency_key", ["live", nobody, UNIT, 1, ""]],
      ["idempotency_key", ["live", nobody, UNIT, 1, "k".repeat(256)]],
    ]
    for (const [argument, values] of consumptions) {
      const { detail, error } = await consumeBySql(values)
      assert.deepStrictEqual({ detail, error }, { detail: argument, error: "BW400" }, JSON.stringify(values))
    }
    const commits: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
      ["hold_id", ["live", null, 1, "debt"]],
      ["amount", ["live", "hld_1", -1, "debt"]],
      ["overdraft", ["live", "hld_1", 1, "maybe"]],
      ["overdraft", ["live", "hld_1", 1, null]],
    ]
    for (const [argument, values] of commits) {
      const { detail, error } = await commitBySql(values)
      assert.deepStrictEqual({ detail, error }, { detail: argument, error: "BW400" }, JSON.stringify(values))
    }
    // A currency and the largest amount are possible.
    const most = await consumeBySql(["live", nobody, "EUR", `1${"0".repeat(30)}`, "k".repeat(255)])
    assert.deepInclude(most, { error: "BW404", detail: nobody })
    assert.deepInclude(await commitBySql(["live", "hld_1", 0, "debt"]), { error: "BW404", detail: "hld_1" })
  })

  it("keep to their tenant", async () => {
    const { customerId, hold } = await run(
      Effect.gen(function* () {
        const { id } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
        yield* (yield* Credits).grant({ customerId: id, unit: UNIT, kind: "paid", amount: 10n })
        const held = yield* (yield* Holds).reserve({ customerId: id, unit: UNIT, amount: 4n })
        return { customerId: id, hold: held.id }
      }),
      "live",
    )
    for (const [accountId, mode] of [
      ["default", "test"],
      ["other", "live"],
    ]) {
      const used = await call("consume_credits($1, $2, $3, $4, 1)", [accountId, mode, customerId, UNIT])
      assert.strictEqual(used.error, "BW404")
      assert.strictEqual((await call("commit_hold($1, $2, $3)", [accountId, mode, hold])).error, "BW404")
    }
    const [stored] = await query(
      "select available::text, held::text from billwright.billing_credit_accounts where customer_id = $1",
      [Id.toUuid(customerId)],
    )
    assert.deepStrictEqual(stored, { available: "6", held: "4" })
  })

  it("take part in the transaction of the host, which undoes all of it", async () => {
    await newClock()
    const played = await newAccount()
    await run(
      Effect.gen(function* () {
        yield* (yield* Credits).grant({ ...account(played), kind: "paid", amount: 10n })
        played.holds.push((yield* (yield* Holds).reserve({ ...account(played), amount: 4n })).id)
      }),
    )
    const before = await storedOf(played)
    const work = async () => {
      await query("begin")
      const used = await consumeBySql(["test", played.customerId, UNIT, 6, "request"])
      const committed = await commitBySql(["test", played.holds[0], 5, "debt"])
      return { used, committed }
    }
    const { committed, used } = await work()
    assert.deepInclude(used, { balance: { available: 0, held: 4, debt: 0 } })
    assert.deepInclude(committed, { status: "committed", committed: 5 })
    await query("rollback")
    assert.deepStrictEqual(await storedOf(played), before)
    await work()
    await query("commit")
    const types = (await storedOf(played)).filter((row) => row.startsWith("credit.exhausted"))
    assert.lengthOf(types, 1)
    const again = await consumeBySql(["test", played.customerId, UNIT, 6, "request"])
    assert.deepInclude(again, { balance: { available: 0, held: 4, debt: 0 } })
    const other = await consumeBySql(["test", played.customerId, UNIT, 5, "request"])
    assert.deepInclude(other, { error: "BW409", detail: again["id"] })
  })

  it("and the library together never give more than there is to 64 callers of one account", async () => {
    const pool = new Pool({ connectionString: url, max: 16 })
    try {
      const customerId = await run(
        Effect.gen(function* () {
          const { id } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
          for (const amount of [60n, 50n, 40n]) {
            yield* (yield* Credits).grant({ customerId: id, unit: UNIT, kind: "paid", amount })
          }
          return id
        }),
        "live",
      )
      const key = { customerId, unit: UNIT }
      const consume = (n: number) =>
        n % 2 === 0
          ? consumeBySql(["live", customerId, UNIT, 3, `call ${n}`], pool).then(
              ({ error }) => error ?? "used",
            )
          : run(
              Effect.flatMap(Credits, (credits) =>
                credits.consume({ ...key, amount: 3n, idempotencyKey: `call ${n}` }),
              ).pipe(
                Effect.as("used"),
                Effect.catchTag("InsufficientCredits", () => Effect.succeed("BW402")),
              ),
              "live",
            )
      const hold = async (n: number) => {
        const held = await run(
          Effect.flatMap(Holds, (holds) =>
            holds.reserve({ ...key, amount: 4n, idempotencyKey: `hold ${n}` }),
          ).pipe(
            Effect.map(({ id }) => id),
            Effect.catchTag("InsufficientCredits", () => Effect.succeed(undefined)),
          ),
          "live",
        )
        if (held === undefined) return "BW402"
        const { committed } = await commitBySql(["live", held, 3, "debt"], pool)
        return committed === 3 ? "used" : "not committed"
      }
      const ends = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) => (n % 4 === 3 ? hold(n) : consume(n))),
      )
      const used = ends.filter((end) => end === "used").length
      assert.deepStrictEqual([...new Set(ends)].sort(), ["BW402", "used"])
      const { balance, discrepancies } = await run(
        Effect.gen(function* () {
          const audited = yield* (yield* CreditAudit).page()
          return { balance: yield* (yield* Credits).balance(key), discrepancies: audited.discrepancies }
        }),
        "live",
      )
      assert.deepInclude(balance, { available: 150n - 3n * BigInt(used), held: 0n, debt: 0n })
      assert.deepStrictEqual(discrepancies, [])
      // What the library can use leaves something to the others.
      assert.isTrue(ends.some((end, n) => end === "used" && n % 2 === 0))
      // Asked again with their keys, they have their first answers, and nothing is used.
      const repeated = await Promise.all(
        ends.flatMap((end, n) => (end === "used" && n % 2 === 0 ? [consume(n)] : [])),
      )
      assert.deepStrictEqual([...new Set(repeated)], ["used"])
      const after = await run(
        Effect.flatMap(Credits, (credits) => credits.balance(key)),
        "live",
      )
      assert.deepStrictEqual(after, balance)
    } finally {
      await pool.end()
    }
  })
})
