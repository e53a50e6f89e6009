/**
 * I6: deliveries follow their state machine. I7: a stale lease writes nothing. I10: every request that a receiver got
 * has an attempt, or a lost one.
 */
import { Tenant } from "@billwright/core"
import { endpointIdsByUrl, entriesOf, type EntryOf, type History, type SeenAttempt } from "../History.ts"

type Seen = Omit<EntryOf<"DeliverySeen">, "order">

const isSuccess = ({ status }: SeenAttempt): boolean => status !== null && status >= 200 && status < 300

const endings = {
  Delivered: (last: SeenAttempt | undefined) => last !== undefined && isSuccess(last),
  gone: (last: SeenAttempt | undefined) => last?.status === 410,
}

/** What contradicts I6 in a single state of a delivery. */
const problemsOfState = (seen: Seen, maxAttempts: History["maxAttempts"]): ReadonlyArray<string> => {
  const { attemptCount, attempts, id, reason, status } = seen
  const problems: Array<string> = []
  if (attempts.some(({ number }, index) => number !== index + 1)) {
    problems.push(`the attempts of ${id} are numbered ${attempts.map(({ number }) => number).join(", ")}`)
  }
  if (attemptCount !== attempts.length)
    problems.push(`${id} counts ${attemptCount} of ${attempts.length} attempts`)
  const last = attempts.at(-1)
  if (status === "Delivered" && !endings.Delivered(last))
    problems.push(`${id} is Delivered without a success`)
  if (reason === "gone" && !endings.gone(last)) problems.push(`${id} is gone without a 410`)
  const mode = seen.tenant.startsWith("live") ? "live" : "test"
  const isExhausted = attemptCount >= maxAttempts[mode]
  if (reason === "exhausted" && !isExhausted)
    problems.push(`${id} was given up after ${attemptCount} attempts`)
  // A lease without a result counts as an attempt, even if its worker sent nothing and had to give up.
  const beyond = attempts.slice(maxAttempts[mode]).filter(({ error }) => error !== "unknown")
  if (beyond.length > 0) problems.push(`${id} had ${attemptCount} attempts`)
  const success = attempts.findIndex(isSuccess)
  if (success !== -1 && success !== attempts.length - 1)
    problems.push(`${id} was sent again after it arrived`)
  if (success !== -1 && status === "Pending") problems.push(`${id} is pending after it arrived`)
  return problems
}

/** What contradicts I6 between two states of a delivery. */
const problemsOfMove = (before: Seen, after: Seen): ReadonlyArray<string> => {
  const wasFinal = before.status !== "Pending"
  const isSame = (a: SeenAttempt, b: SeenAttempt | undefined) =>
    a.number === b?.number && a.status === b.status && a.error === b.error
  return [
    ...(wasFinal && (after.status !== before.status || after.attempts.length !== before.attempts.length)
      ? [`${after.id} was ${before.status} and became ${after.status}`]
      : []),
    ...(before.attempts.every((attempt, index) => isSame(attempt, after.attempts[index]))
      ? []
      : [`an attempt of ${after.id} was changed or lost`]),
  ]
}

const finally_ = ({ stored }: History): ReadonlyArray<Seen> =>
  stored.deliveries.map(({ attempts, delivery, tenant }) => ({
    _tag: "DeliverySeen",
    id: delivery.id,
    tenant: Tenant.tenantKey(tenant),
    status: delivery.status,
    reason: delivery.reason,
    attemptCount: delivery.attemptCount,
    attempts: attempts.map(({ error, number, responseStatus }) => ({
      number,
      status: responseStatus,
      error,
    })),
  }))

/** I6. */
export const deliveriesMove = (history: History): ReadonlyArray<string> => {
  const last = new Map<string, Seen>()
  const problems = new Set<string>()
  for (const seen of [...entriesOf(history, "DeliverySeen"), ...finally_(history)]) {
    const before = last.get(seen.id)
    last.set(seen.id, seen)
    for (const problem of problemsOfState(seen, history.maxAttempts)) problems.add(problem)
    if (before !== undefined) for (const problem of problemsOfMove(before, seen)) problems.add(problem)
  }
  return [...problems]
}

/** I7. */
export const staleLeasesWriteNothing = (history: History): ReadonlyArray<string> => {
  const leases = new Map<string, string>()
  const problems: Array<string> = []
  for (const entry of history.storage) {
    if (entry._tag === "Claimed") for (const { id, token } of entry.deliveries) leases.set(id, token)
    if (entry._tag !== "Settled") continue
    for (const { id, isWritten, token } of entry.results) {
      if (!isWritten) continue
      if (leases.get(id) !== token) problems.push(`${entry.process} wrote ${id} under a lease that had ended`)
      leases.delete(id)
    }
  }
  return problems
}

const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)

/** I10. The timestamp of a request identifies the time of its attempt. */
export const requestsHaveAttempts = (history: History): ReadonlyArray<string> => {
  const byUrl = endpointIdsByUrl(history)
  const made = new Map<string, number>()
  const lost = new Map<string, number>()
  for (const { attempts, delivery } of history.stored.deliveries) {
    const pair = `${delivery.eventId} ${delivery.endpointId}`
    for (const { error, requestHeaders } of attempts) {
      if (error === "unknown") count(lost, pair)
      else count(made, `${pair} ${requestHeaders["webhook-timestamp"]}`)
    }
  }
  const seen = new Map<string, number>()
  for (const { headers, isCopy, url } of history.received) {
    if (!isCopy) count(seen, `${headers["webhook-id"]} ${byUrl.get(url)} ${headers["webhook-timestamp"]}`)
  }
  const excess = new Map<string, number>()
  for (const [request, times] of seen) {
    const pair = request.slice(0, request.lastIndexOf(" "))
    excess.set(pair, (excess.get(pair) ?? 0) + Math.max(0, times - (made.get(request) ?? 0)))
  }
  return [...excess]
    .filter(([pair, times]) => times > (lost.get(pair) ?? 0))
    .map(([pair, times]) => `${times} requests without an attempt, ${lost.get(pair) ?? 0} lost ones: ${pair}`)
}
