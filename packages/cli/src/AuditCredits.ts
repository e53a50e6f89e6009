/**
 * `billwright audit credits`: checks that balances of credits are their entries.
 */
import { Billing, Credit, CreditAudit, type CreditDiscrepancy, CurrentTenant } from "@billwright/core"
import { Console, Effect, Layer, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { AuditFailed } from "./AuditFailed.ts"
import * as Progress from "./Progress.ts"
import * as Store from "./Store.ts"
import { account, json, mode } from "./TenantFlags.ts"

/** The audit ends when it has found so many differences. */
const MAX_DISCREPANCIES = 1_000

const SEPARATOR = "/"
const nameOf = ({ customerId, unit }: Credit.AccountKey): string => `${customerId}${SEPARATOR}${unit}`

const isKey = Schema.is(Credit.AccountKey)

/** An account of its name: the customer, a slash, and the unit. */
const accountOf = (name: string): Credit.AccountKey => {
  const [customerId, unit, ...more] = name.split(SEPARATOR)
  const key: unknown = { customerId, unit }
  if (more.length > 0 || !isKey(key)) throw new TypeError(`no account has this name: ${name}`)
  return key
}

const after = Flag.String("after").pipe(
  Flag.withDescription(
    "Go on after this account, such as cus_…/token: the last one that an audit says it has read. Default: begin with the first.",
  ),
  Flag.mapTryCatch(accountOf, () => "expected a customer, a slash and a unit, such as cus_…/token"),
  Flag.optional,
)

interface Audited {
  readonly accounts: number
  readonly discrepancies: ReadonlyArray<CreditDiscrepancy>
  readonly last: Credit.AccountKey | null
  readonly hasMore: boolean
}

const lastOf = ({ last }: Audited): string => (last === null ? "none" : nameOf(last))

const readSoFar = (all: Audited): string =>
  `read ${all.accounts.toLocaleString("en-US")} accounts, the last one is ${lastOf(all)}; ` +
  `${all.discrepancies.length.toLocaleString("en-US")} differences`

const auditAccounts = Effect.fnUntraced(function* (from: Credit.AccountKey | null) {
  const { page } = yield* CreditAudit
  const progress = Progress.make(readSoFar)
  let all: Audited = { accounts: 0, discrepancies: [], last: from, hasMore: true }
  while (all.hasMore && all.discrepancies.length < MAX_DISCREPANCIES) {
    const next = yield* page(all.last === null ? {} : { startingAfter: all.last })
    all = {
      accounts: all.accounts + next.accounts,
      discrepancies: [...all.discrepancies, ...next.discrepancies],
      last: next.last ?? all.last,
      hasMore: next.hasMore,
    }
    yield* progress(all)
  }
  return all
})

const textOf = ({ available, debt, held }: CreditDiscrepancy["stated"]): string =>
  `${available} available, ${held} held, ${debt} of debt`

const describe = ({ entries, grantId, problem, stated, ...key }: CreditDiscrepancy): string =>
  `${nameOf(key)}: ${grantId === null ? "the account" : `the grant ${grantId}`} ${problem}: ` +
  `it has ${textOf(stated)}, entries ${textOf(entries)}`

const amountsOf = ({ available, debt, held }: CreditDiscrepancy["stated"]) => ({
  available: String(available),
  held: String(held),
  debt: String(debt),
})

const toJson = (all: Audited): string =>
  JSON.stringify(
    {
      accounts: all.accounts,
      discrepancies: all.discrepancies.map(({ customerId, entries, grantId, problem, stated, unit }) => ({
        customer_id: customerId,
        unit,
        grant_id: grantId,
        problem,
        stated: amountsOf(stated),
        entries: amountsOf(entries),
      })),
      last: all.last === null ? null : nameOf(all.last),
      has_more: all.hasMore,
    },
    undefined,
    2,
  )

export const auditCredits = Command.make(
  "credits",
  { ...Store.databaseFlags, account, mode, after, json },
  Effect.fn(function* (options) {
    const services = Billing.layer.pipe(Layer.provide(Store.layerBeside(options)))
    const found = yield* auditAccounts(Option.getOrNull(options.after)).pipe(
      Effect.provideService(CurrentTenant, { accountId: options.account, mode: options.mode }),
      Effect.provide(services),
    )
    const text = [...found.discrepancies.map(describe), `${readSoFar(found)}.`].join("\n")
    yield* Console.log(options.json ? toJson(found) : text)
    const { length } = found.discrepancies
    if (length === 0) return
    const more = found.hasMore ? `. There may be more: go on with --after ${lastOf(found)}` : ""
    yield* new AuditFailed({ message: `${length} differences between balances and entries${more}` })
  }),
).pipe(Command.withDescription("Compare balances of credits with their entries"))
