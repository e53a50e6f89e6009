/**
 * The invariants of credits: J7, and J10 of their events.
 */
import type { Credit } from "@billwright/core"
import type { CreditBalance } from "@billwright/engine"
import { accountName, type CreditBooks, type CreditHistory } from "./CreditBooks.ts"
import { replay } from "./Replay.ts"

type Check<B> = (books: B) => ReadonlyArray<string>
type Rows = CreditBooks["credits"][number]

const sumOf = (entries: ReadonlyArray<CreditBalance>) => ({
  available: entries.reduce((sum, { available }) => sum + available, 0n),
  held: entries.reduce((sum, { held }) => sum + held, 0n),
  debt: entries.reduce((sum, { debt }) => sum + debt, 0n),
})

const isSame = (a: Partial<CreditBalance>, b: Partial<CreditBalance>): boolean =>
  a.available === b.available && a.held === b.held && a.debt === b.debt

const textOf = ({ available, debt, held }: Partial<CreditBalance>): string =>
  [available, held, debt].map(String).join("/")

/** The rows of one account. */
const accountsOf = ({ credits }: CreditBooks) =>
  credits.flatMap((rows: Rows) =>
    rows.accounts.map((account) => {
      const isOwn = ({ customerId, unit }: Credit.AccountKey) =>
        customerId === account.customerId && unit === account.unit
      return {
        name: accountName(rows.tenant, account.customerId, account.unit),
        account,
        grants: rows.grants.filter(isOwn),
        holds: rows.holds.filter(isOwn),
        entries: rows.entries.filter(isOwn).toSorted((a, b) => a.sequence - b.sequence),
        consumptions: rows.consumptions.filter(isOwn),
      }
    }),
  )

/** A balance is its entries, of an account and of each grant. It is never below zero but for debt. */
const balancesAreEntries: Check<CreditBooks> = (books) =>
  accountsOf(books).flatMap(({ account, entries, grants, holds, name }) => {
    const sum = sumOf(entries)
    const open = holds.filter(({ status }) => status === "open")
    const held = open.reduce((all, { amount }) => all + amount, 0n)
    const isCounted = entries.every(({ sequence }, index) => sequence === index + 1)
    const isPositive = account.available >= 0n && account.held >= 0n && account.debt >= 0n
    const isEither = account.available === 0n || account.debt === 0n
    const unlike = grants.filter(({ id, ...grant }) => {
      const { available, held: kept } = sumOf(entries.filter(({ grantId }) => grantId === id))
      return available !== grant.available || kept !== grant.held
    })
    return [
      ...(isSame(sum, account) ? [] : [`${name} has ${textOf(account)}, and entries of ${textOf(sum)}`]),
      ...(isCounted && account.sequence === entries.length ? [] : [`${name} has a gap in its entries`]),
      ...(isPositive && isEither ? [] : [`${name} has ${textOf(account)}`]),
      ...(account.openHolds === open.length && account.held === held
        ? []
        : [
            `${name} has ${account.openHolds} open holds of ${account.held}, and they are ${open.length} of ${held}`,
          ]),
      ...unlike.map(({ id }) => `${id} is not its entries`),
    ]
  })

/** What a consumption or a commit used is what its entries say, so each counts once. */
const eachUseCountsOnce: Check<CreditBooks> = (books) =>
  accountsOf(books).flatMap(({ consumptions, entries, holds, name }) => {
    const keys = consumptions.flatMap(({ idempotencyKey }) => idempotencyKey ?? [])
    const used = (isOwn: (entry: Credit.StoredEntry) => boolean): bigint => {
      const { available, debt, held } = sumOf(entries.filter(isOwn))
      return debt - available - held
    }
    const ids = new Set(entries.flatMap(({ consumptionId }) => consumptionId ?? []))
    return [
      ...(new Set(keys).size === keys.length ? [] : [`${name} has two consumptions with a key`]),
      ...(ids.size === consumptions.length ? [] : [`${name} has ${ids.size} uses of ${consumptions.length}`]),
      ...consumptions
        .filter(({ amount, id }) => used(({ consumptionId }) => consumptionId === id) !== amount)
        .map(({ id }) => `${id} is not what its entries used`),
      ...holds
        .filter(({ committed, id }) => {
          const isOwn = ({ holdId, kind }: Credit.StoredEntry) => holdId === id && kind === "commit"
          return used(isOwn) !== (committed ?? 0n)
        })
        .map(({ id }) => `${id} is not what its entries used`),
    ]
  })

/** The answers and the rows are those that single tokens lead to. */
const tokensAgree: Check<CreditBooks> = (books) => {
  const { accounts, problems } = replay(books)
  const rows = accountsOf(books).flatMap(({ account, grants, holds, name }) => {
    const model = accounts.get(name)?.model
    if (model === undefined) return []
    const { available, debt, held } = model.balance
    const right = { available: BigInt(available), held: BigInt(held), debt: BigInt(debt) }
    return [
      ...(isSame(account, right) ? [] : [`${name} has ${textOf(account)}, and not ${textOf(right)}`]),
      ...grants.flatMap((grant) => {
        if (!model.grants.has(grant.id)) return [`nothing granted ${grant.id}`]
        const own = model.ofGrant(grant.id)
        // A grant of which nothing is left is not looked at again, so its end is not written.
        const isOver = own.available + own.held === 0 && own.status === "expired"
        const isRight =
          (own.status === grant.status || isOver) &&
          BigInt(own.available) === grant.available &&
          BigInt(own.held) === grant.held
        return isRight
          ? []
          : [`${grant.id} is ${grant.status} with ${textOf(grant)}, and not ${JSON.stringify(own)}`]
      }),
      ...holds
        .filter(({ id, status }) => model.holds.get(id)?.status !== status)
        .map(({ id, status }) => `${id} is ${status}, and not ${model.holds.get(id)?.status ?? "held"}`),
    ]
  })
  return [...problems, ...rows]
}

/** What a host was told is there at the end. */
const whatIsToldIsStored: Check<CreditBooks> = ({ credits, told }) => {
  const holds = new Map(credits.flatMap((rows) => rows.holds.map((hold) => [hold.id as string, hold])))
  const grants = new Map(credits.flatMap((rows) => rows.grants.map((grant) => [grant.id as string, grant])))
  const consumptions = new Set(credits.flatMap((rows) => rows.consumptions.map(({ id }) => id as string)))
  return told.flatMap(({ command: { ask, number }, outcome }) => {
    if (outcome.type === "refused" || ask.type === "balance") return []
    const { id } = outcome.value as { readonly id: string }
    const isStored =
      (consumptions.has(id) || holds.has(id) || grants.has(id)) &&
      (ask.type !== "commit" || holds.get(id)?.committed === ask.amount) &&
      (ask.type !== "void" || grants.get(id)?.status === "voided")
    return isStored ? [] : [`${ask.type} ${number} was done, and is not stored`]
  })
}

interface Payload {
  readonly type: string
  readonly data: {
    readonly customer_id: string
    readonly unit: string
    readonly grant_id?: string
    readonly sequence: number
  }
}

const EVENTS: Readonly<Partial<Record<Credit.StoredEntry["kind"], string>>> = {
  grant: "credit.granted",
  adjust: "credit.adjusted",
  expire: "credit.expired",
}
/** Events of no single entry. */
const OTHERS = new Set(["credit.exhausted", "credit.low", "credit.top_up_suspended"])

/** J10 of credits: what begins, is adjusted and expires is published once, with a rising sequence. */
const changesArePublished: Check<CreditBooks> = (books) => {
  const published = books.events.flatMap(({ event, tenant }) => {
    const { data, type } = JSON.parse(event.payload) as Payload
    return type.startsWith("credit.")
      ? [{ ...data, type, name: accountName(tenant, data.customer_id, data.unit) }]
      : []
  })
  const named = ({ grant_id, sequence, type }: { grant_id?: string; sequence: number; type: string }) =>
    `${type} of ${grant_id ?? "none"} at ${sequence}`
  return accountsOf(books).flatMap(({ entries, name }) => {
    const own = published.filter((event) => event.name === name)
    const isFalling = own.some(({ sequence }, index) => index > 0 && sequence < own[index - 1]!.sequence)
    const expected = entries.flatMap(({ available, grantId, kind, sequence }) => {
      const type = EVENTS[kind]
      // Usage burns what had expired.
      const isBurnt = kind === "expire" && available > 0n
      return type === undefined || grantId === null || isBurnt
        ? []
        : [named({ type, sequence, grant_id: grantId })]
    })
    const given = own.filter(({ type }) => !OTHERS.has(type)).map(named)
    return [
      ...(isFalling ? [`the events of ${name} fall`] : []),
      ...(expected.join() === given.join()
        ? []
        : [`${name} published ${given.join()}, and not ${expected.join()}`]),
    ]
  })
}

export const creditCheckers = {
  /** No fiber dies of a bug. */
  J0: ({ defects }: Pick<CreditHistory, "defects">) => defects,
  entries: balancesAreEntries,
  once: eachUseCountsOnce,
  tokens: tokensAgree,
  told: whatIsToldIsStored,
  J10: changesArePublished,
} satisfies Readonly<Record<string, Check<CreditHistory>>>

export type CreditInvariant = keyof typeof creditCheckers

export interface CreditViolation {
  readonly invariant: CreditInvariant
  readonly problem: string
}

/** Everything that contradicts an invariant of credits. All but `J0` and `J10` are parts of J7. */
export const judgeCredits = (history: CreditHistory): ReadonlyArray<CreditViolation> =>
  Object.entries(creditCheckers).flatMap(([name, check]) =>
    check(history).map((problem) => ({ invariant: name as CreditInvariant, problem })),
  )
