/**
 * The invariants of grants: where they come from, how much they are of, and when they can be used.
 */
import type { Credit, Tenant } from "@billwright/core"
import type { Period } from "@billwright/engine"
import { accountName } from "../credits/CreditBooks.ts"
import type { PrepaidBooks } from "./PrepaidBooks.ts"
import { GRANTS, grantedIn, mostThatStays } from "./PrepaidPlans.ts"

type Grant = Credit.StoredGrant
type Check = (books: PrepaidBooks) => ReadonlyArray<string>

const UNITS = [...new Set(Object.values(GRANTS).flatMap((all) => all.map(({ unit }) => unit)))]

const allGrants = ({ credits }: PrepaidBooks): ReadonlyArray<Grant> => credits.flatMap(({ grants }) => grants)

const periodName = (id: string, number: number | null): string => `period ${number} of ${id}`

const isOfPlan = ({ kind }: Grant): boolean => kind === "plan"

/** A period has one grant of each unit, of what its plans grant for the days that they served. */
export const plansGrantOnce: Check = (books) => {
  const grants = Map.groupBy(
    allGrants(books).filter(isOfPlan),
    ({ customerId, source, unit }) =>
      `${unit} in ${periodName(source?.id ?? "nothing", source?.period ?? null)} of ${customerId}`,
  )
  const wanted = books.subscriptions.flatMap(({ periods, subscription: { customerId, id, state } }) =>
    periods.flatMap((period) =>
      UNITS.map((unit) => ({
        name: `${unit} in ${periodName(id, period.number)} of ${customerId}`,
        period,
        amount: grantedIn(period, state.periods.timezone, unit),
      })),
    ),
  )
  const surplus = [...grants.keys()].filter((name) => !wanted.some((one) => one.name === name))
  return [
    ...surplus.map((name) => `there is a grant of ${name}, which nobody opened`),
    ...wanted.flatMap(({ amount, name, period }) => {
      const own = grants.get(name) ?? []
      const sum = own.reduce((all, grant) => all + grant.amount, 0n)
      const isRight = own.length <= 1 && sum === BigInt(amount)
      const isInTime = own.every(
        ({ effectiveAt }) => effectiveAt >= period.start && effectiveAt <= period.end,
      )
      return [
        ...(isRight ? [] : [`${own.length} grants of ${name} are of ${sum}, and not of ${amount}`]),
        ...(isInTime ? [] : [`the grant of ${name} does not begin in it`]),
      ]
    }),
  ]
}

/** Every paid grant was asked for with a key, or is that of a top-up that was paid, or of an invoice that gives money or credits back. */
export const paidGrantsAreKnown: Check = (books) => {
  const topUps = new Map(books.topUps.map(({ topUp }) => [topUp.grantId as string | null, topUp]))
  const invoices = new Map(books.invoices.map(({ invoice }) => [invoice.id as string, invoice]))
  return allGrants(books).flatMap(({ amount, id, idempotencyKey, kind, source, unit }) => {
    if (kind === "plan" || idempotencyKey !== null) return []
    if (source?.type === "credit_note") return []
    const topUp = topUps.get(id)
    if (topUp !== undefined) {
      const isRight =
        topUp.amount === amount &&
        topUp.unit === unit &&
        topUp.status === "granted" &&
        source?.id === topUp.invoiceId
      return isRight ? [] : [`${id} is ${amount} ${unit}, and not what ${topUp.id} bought`]
    }
    const { lines = [], total = 0n } = invoices.get(source?.id ?? "")?.state ?? {}
    // Its amount is what was owed and repaid: the units say so.
    const isOfBurns = lines.some(({ origin }) => origin?.burns?.unit === unit)
    return total < 0n || isOfBurns ? [] : [`nobody granted ${id} of ${amount} ${unit}`]
  })
}

/** When a grant ends for good, and how much of it may stay after its first end. */
interface End {
  readonly first: number
  readonly most: bigint
  readonly last: number
}

const endOf = (
  { rollover, source, unit }: Grant,
  expiresAt: number | null,
  periods: ReadonlyMap<string, Period>,
): End | undefined => {
  if (expiresAt === null) return undefined
  const period = periods.get(periodName(source?.id ?? "", source?.period ?? null))
  if (period === undefined) return { first: expiresAt, most: 0n, last: expiresAt }
  const most = mostThatStays(period, unit)
  return { first: period.end, most, last: Math.max(period.end, rollover?.expiresAt ?? 0) }
}

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** What is available of a grant after each transaction is what may be used of it at that instant. */
export const onlyLiveGrantsAreAvailable: Check = ({ subscriptions, transactions }) => {
  const periods = new Map(
    subscriptions.flatMap((one) =>
      one.periods.map((period) => [periodName(one.subscription.id, period.number), period] as const),
    ),
  )
  const accounts = new Map<string, Map<string, Grant>>()
  /** The latest instant of each account. What has begun by then stays, also when a clock is set back. */
  const latest = new Map<string, number>()
  /** The ends that grants were made with. */
  const ends = new Map<string, number | null>()
  return transactions.flatMap((transaction) => {
    const touched = new Map<string, number>()
    for (const change of transaction) {
      if (change.type !== "account") continue
      const grants = accounts.get(change.name) ?? new Map<string, Grant>()
      accounts.set(change.name, grants)
      for (const grant of change.grants) {
        grants.set(grant.id, grant)
        if (!ends.has(grant.id)) ends.set(grant.id, grant.expiresAt)
      }
      touched.set(change.name, change.now)
      latest.set(change.name, Math.max(change.now, latest.get(change.name) ?? 0))
    }
    return [...touched].flatMap(([name, now]) =>
      [...accounts.get(name)!.values()].flatMap((grant) => {
        const { available, effectiveAt, held, id, status } = grant
        const end = endOf(grant, ends.get(id) ?? null, periods)
        const allowed =
          effectiveAt > latest.get(name)! || status === "voided" || (end !== undefined && end.last <= now)
            ? 0n
            : end !== undefined && end.first <= now
              ? most(0n, end.most - held)
              : undefined
        return allowed === undefined || available <= allowed
          ? []
          : [`${available} of ${id} are available at ${now}, and not ${allowed}`]
      }),
    )
  })
}

const customerName = ({ accountId, mode }: Tenant.Tenant, customerId: string): string =>
  accountName({ accountId, mode }, customerId, "")

/** A customer who was erased has nothing available, and uses nothing any more but what holds keep. */
export const erasedCustomersHaveNothing: Check = ({ transactions }) => {
  const erased = new Set<string>()
  return transactions.flatMap((transaction) => {
    for (const change of transaction) {
      if (change.type === "erased") erased.add(customerName(change.tenant, change.customerId))
    }
    const balances = new Map<string, bigint>()
    const uses: Array<string> = []
    for (const change of transaction) {
      if (change.type !== "account") continue
      if (![...erased].some((name) => change.name.startsWith(name))) continue
      balances.set(change.name, change.balance.available)
      for (const { id, kind } of change.entries) {
        if (kind === "consume" || kind === "reserve" || kind === "apply") uses.push(`${id} is a ${kind}`)
      }
    }
    const left = [...balances].filter(([, available]) => available > 0n)
    return [
      ...left.map(([name, available]) => `${name} of an erased customer has ${available}`),
      ...uses.map((use) => `${use} of an erased customer`),
    ]
  })
}
