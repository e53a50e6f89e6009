/**
 * Rating equals Postgres `numeric` to the last digit. `NUMERIC_CASES` says how many random cases are compared: the
 * benchmark `rating-numeric` compares 100,000.
 */
import { readFileSync } from "node:fs"
import { Client } from "pg"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { pricesEachRecord } from "../../src/catalog/Charge.ts"
import { type Charge, rate, type Rated } from "../../src/rating/index.ts"
import { decimals, fc } from "../property.ts"
import { charges, shares } from "../rating/Charges.ts"
import { CURRENCY } from "../rating/Oracle.ts"

declare module "vitest" {
  export interface ProvidedContext {
    readonly serverUrl: string
  }
}

const CASES = Number(process.env["NUMERIC_CASES"] ?? 2_000)
const BATCH = 1_000
const SEED = 20_261_122
const TIMEOUT_MILLIS = 600_000

/** Currencies with each number of digits that there is. */
const CURRENCIES = { EUR: 2, JPY: 0, KWD: 3, CLF: 4 } as const

interface Case {
  readonly charge: Charge
  readonly currency: keyof typeof CURRENCIES
  readonly digits: number
  readonly quantity: string
  readonly records?: ReadonlyArray<string>
  readonly share: readonly [string, string]
  readonly discounts: ReadonlyArray<string>
}

interface Row {
  readonly amount: string
  readonly exact: string
  readonly cut: string
}

const CODE = `"${CURRENCY}"`

/** Quantities of all sizes, and ends of tiers, where the rules change. */
const quantityOf = (charge: Charge): fc.Arbitrary<string> => {
  const ends = "tiers" in charge ? charge.tiers.flatMap(({ up_to }) => up_to ?? []) : []
  return fc.oneof(
    { weight: 4, arbitrary: decimals(6, 3) },
    { weight: 2, arbitrary: decimals(3, 2) },
    { weight: 1, arbitrary: decimals(40, 18) },
    { weight: 1, arbitrary: fc.constantFrom("0", ...ends) },
  )
}

const cases: fc.Arbitrary<Case> = fc
  .tuple(
    charges,
    fc.constantFrom("EUR", "JPY", "KWD", "CLF"),
    shares,
    fc.array(fc.constantFrom("10", "12.5", "33.333"), { maxLength: 2 }),
    fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 8 }),
  )
  .chain(([inEuro, currency, [numerator, denominator], discounts, records]) => {
    const charge = JSON.parse(JSON.stringify(inEuro).replaceAll(CODE, `"${currency}"`)) as Charge
    const rest = {
      charge,
      currency,
      digits: CURRENCIES[currency],
      share: [String(numerator), String(denominator)] as const,
      discounts,
    }
    if (!pricesEachRecord(charge)) return quantityOf(charge).map((quantity) => ({ ...rest, quantity }))
    const quantity = String(records.reduce((sum, record) => sum + record, 0))
    return fc.constant({ ...rest, quantity, records: records.map(String) })
  })

const rated = ({ charge, currency, discounts, quantity, records, share }: Case): Rated =>
  rate(charge, quantity, {
    currency,
    discounts,
    share: [BigInt(share[0]), BigInt(share[1])],
    ...(records === undefined ? {} : { records }),
  })

let client: Client

beforeAll(async () => {
  client = new Client({ connectionString: inject("serverUrl") })
  await client.connect()
  await client.query(readFileSync(new URL("rated.sql", import.meta.url), "utf8"))
})
afterAll(() => client.end())

const askPostgres = async (batch: ReadonlyArray<Case>): Promise<ReadonlyArray<Row>> => {
  const { rows } = await client.query<Row>(
    `select r.amount, r.exact, r.cut
       from jsonb_array_elements($1::jsonb) with ordinality as given (c, position), pg_temp.rated(c) as r
      order by position`,
    [JSON.stringify(batch)],
  )
  return rows
}

describe("rate", () => {
  it(
    "is Postgres numeric, to the last digit",
    async () => {
      for (let done = 0; done < CASES; done += BATCH) {
        const batch = fc.sample(cases, { seed: SEED + done, numRuns: Math.min(BATCH, CASES - done) })
        const rows = await askPostgres(batch)
        assert.strictEqual(rows.length, batch.length)
        for (const [index, row] of rows.entries()) {
          const one = batch[index]!
          const { amount, exact } = rated(one)
          assert.strictEqual(String(amount), row.amount, JSON.stringify(one))
          const expected = exact.endsWith("…") ? `${row.cut}…` : row.exact
          assert.strictEqual(exact, expected, JSON.stringify(one))
        }
      }
    },
    TIMEOUT_MILLIS,
  )
})
