import type { Delivery, DeliveryWithAttempts } from "../api/Types.ts"

const REASONS: Readonly<Record<NonNullable<Delivery["reason"]>, string>> = {
  exhausted: "the last attempt of the schedule failed",
  gone: "the receiver answered 410 Gone",
  endpoint_disabled: "the endpoint was disabled",
  endpoint_deleted: "the endpoint was deleted",
  unreadable: "what is stored of it can't be read",
}

/** What an error code of an attempt means. */
export const ERRORS: Readonly<Record<NonNullable<Delivery["last_error"]>, string>> = {
  dns_error: "The name of the host could not be resolved.",
  blocked_address: "The host has an address that webhooks may not be sent to.",
  connection_refused: "Nothing listens there: the connection was refused.",
  tls_error: "The connection could not be secured: look at the certificate.",
  timeout: "The receiver took too long.",
  reset: "The connection was cut.",
  bad_response: "What came back was no HTTP.",
  unknown: "How it ended was not seen: the receiver may have had the request.",
  secret_unavailable: "The endpoint's secret can't be decrypted: a key is missing. Nothing was sent.",
  internal_error: "A bug on the sending side. Whether something was sent is not known.",
}

/** Says of a replay what it made. */
export const deliveriesOnTheirWay = (count: number): string =>
  count === 1 ? "1 delivery is on its way" : `${count.toLocaleString("en-GB")} deliveries are on their way`

const attempts = (count: number): string => (count === 1 ? "1 attempt" : `${count} attempts`)

/** A delivery in a line. */
export const summaryOf = ({ attempt_count: count, reason }: Delivery): string =>
  reason === null ? attempts(count) : `${attempts(count)} · ${REASONS[reason]}`

/**
 * When the next attempt is due, where one is planned. While one is under way, `next_attempt_at` is when it counts as
 * lost, which is no time of anything that is planned.
 */
export const nextAttemptAt = (delivery: DeliveryWithAttempts): string | null =>
  delivery.attempt_started_at === null ? delivery.next_attempt_at : null

/** How a delivery ended, or where it is, in a sentence. */
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
