/**
 * The rules of test clocks and of migrations of plans.
 */
import type { Books } from "./Books.ts"

/** Nothing of a customer is later than its test clock, and every clock has come to where it was sent. */
export const clocksAreFollowed = ({
  clocks,
  creditNotes,
  customers,
  invoices,
  subscriptions,
}: Books): ReadonlyArray<string> => {
  const times = new Map(clocks.map(({ clock }) => [clock.id as string, clock.now.epochMilliseconds]))
  const timeOf = new Map(
    customers.map(({ id, testClockId }) => [id, testClockId === null ? undefined : times.get(testClockId)]),
  )
  const dated = [
    ...invoices.flatMap(({ invoice: { customerId, id, state } }) =>
      state.issuedAt === null ? [] : [{ customerId, id, at: state.issuedAt }],
    ),
    ...invoices.map(({ invoice: { createdAt, customerId, id } }) => ({
      customerId,
      id,
      at: createdAt.epochMilliseconds,
    })),
    ...creditNotes.map(({ note: { customerId, id, issuedAt } }) => ({ customerId, id, at: issuedAt })),
    ...subscriptions.map(({ subscription: { customerId, id, updatedAt } }) => ({
      customerId,
      id,
      at: updatedAt.epochMilliseconds,
    })),
  ]
  return [
    ...dated
      .filter(({ at, customerId }) => at > (timeOf.get(customerId) ?? Number.POSITIVE_INFINITY))
      .map(({ id }) => `${id} is later than the test clock of its customer`),
    ...clocks
      .filter(({ clock }) => clock.status !== "ready" || clock.advancingTo !== null)
      .map(({ clock }) => `${clock.id} is ${clock.status}`),
  ]
}

/** A migration ends, and looks at each subscription once. */
export const migrationsAreWhole = ({ migrations, subscriptions }: Books): ReadonlyArray<string> =>
  migrations.flatMap(({ migration: { counts, failures, id, status }, tenant }) => {
    const ours = subscriptions.filter(
      (one) => one.tenant.accountId === tenant.accountId && one.tenant.mode === tenant.mode,
    )
    const listed = new Set(failures.map(({ subscription }) => subscription))
    const looked = counts.migrated + counts.unchanged + counts.failed
    return [
      ...(status === "completed" ? [] : [`${id} is ${status}`]),
      ...(listed.size === failures.length && listed.size === counts.failed
        ? []
        : [`${id} lists ${failures.length} of ${counts.failed} failures, of ${listed.size} subscriptions`]),
      ...(looked <= ours.length ? [] : [`${id} looked at ${looked} of ${ours.length} subscriptions`]),
    ]
  })
