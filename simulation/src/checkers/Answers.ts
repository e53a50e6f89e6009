/**
 * I9: a repeated request gets the same answer, byte for byte, and its work is done once.
 */
import { Tenant } from "@billwright/core"
import { callsOf, type History } from "../History.ts"

/** I9. */
export const repeatsAreAnsweredAlike = (history: History): ReadonlyArray<string> => {
  // Erasing a customer deletes the stored answers about it.
  const erased = new Set(callsOf(history, "EraseCustomer").map(({ ask }) => ask.customerId))
  const answers = new Map<
    string,
    Array<{ readonly status: number; readonly body: string; readonly isReplay: boolean }>
  >()
  for (const { answer, ask, tenant } of callsOf(history, "CreateCustomer")) {
    if (answer._tag !== "Done" || answer.response === undefined) continue
    if (answer.ids.some((id) => erased.has(id))) continue
    const key = `${tenant} ${ask.key}`
    answers.set(key, [...(answers.get(key) ?? []), answer.response])
  }
  const different = [...answers].filter(
    ([, some]) => new Set(some.map(({ body, status }) => `${status} ${body}`)).size > 1,
  )
  const doneTwice = [...answers].filter(([, some]) => some.filter(({ isReplay }) => !isReplay).length > 1)
  const names = history.stored.customers.flatMap(({ customer, tenant }) =>
    customer === null ? [] : [`${Tenant.tenantKey(tenant)} ${customer.name}`],
  )
  const double = names.filter((name, index) => names.indexOf(name) !== index)
  return [
    ...different.map(([key]) => `the request ${key} got two different answers`),
    ...doneTwice.map(([key]) => `the request ${key} was answered as new twice`),
    ...double.map((name) => `the customer ${name} was created twice`),
  ]
}
