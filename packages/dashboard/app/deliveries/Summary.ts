import type { Delivery, DeliveryWithAttempts } from "../api/Types.ts"

const REASONS: Readonly<Record<NonNullable<Delivery["reason"]>, string>> = {
  exhausted: "the last attempt of the schedule failed",
  gone: "the receiver answered 410 Gone",
  endpoint_disabled: "the endpoint was disabled",
  endpoint_deleted: "the endpoint was deleted",
  unreadable: "its stored data can't be read",
}

/** The meaning of each error code of an attempt. */
export const ERRORS: Readonly<Record<NonNullable<Delivery["last_error"]>, string>> = {
  dns_error: "The name of the host could not be resolved.",
  blocked_address: "The host has an address that webhooks may not be sent to.",
  connection_refused: "Nothing listens there: the connection was refused.",
  tls_error: "The connection could not be secured: check the certificate.",
  timeout: "The receiver took too long.",
  reset: "The connection was cut.",
  bad_response: "The answer was not valid HTTP.",
  proxy_error: "Our own proxy failed. The endpoint is not to blame.",
  unknown: "The result is unknown: the receiver may have got the request.",
  secret_unavailable: "The endpoint's secret can't be decrypted: a key is missing. Nothing was sent.",
  internal_error: "A bug in Billwright. It is unknown whether the request was sent.",
}

/** Says how many deliveries a replay has made. */
export const deliveriesOnTheirWay = (count: number): string =>
  count === 1 ? "1 delivery is on its way" : `${count.toLocaleString("en-GB")} deliveries are on their way`

const attempts = (count: number): string => (count === 1 ? "1 attempt" : `${count} attempts`)

/** A delivery in one line. */
export const summaryOf = ({ attempt_count: count, reason }: Delivery): string =>
  reason === null ? attempts(count) : `${attempts(count)} · ${REASONS[reason]}`

/**
 * When the next attempt is due. `null` while an attempt is under way, because `next_attempt_at` is then the time after
 * which that attempt counts as lost.
 */
export const nextAttemptAt = (delivery: DeliveryWithAttempts): string | null =>
  delivery.attempt_started_at === null ? delivery.next_attempt_at : null

/** The state or result of a delivery, in a sentence. */
export const outcomeOf = (delivery: DeliveryWithAttempts): string => {
  const { attempt_count: count, last_response_status: answer, reason, status } = delivery
  if (status === "Delivered") return `Delivered: the receiver answered HTTP ${answer} to attempt ${count}.`
  if (status === "Failed")
    return `Failed for good after ${attempts(count)}${reason === null ? "" : `: ${REASONS[reason]}`}.`
  if (delivery.attempt_started_at !== null) return `Attempt ${count + 1} is under way.`
  return count === 0
    ? "On its way: no attempt has ended yet."
    : `Attempt ${count} failed. Another one follows.`
}
