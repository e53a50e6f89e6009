/**
 * Events of Stripe, which it sends to a URL of the host.
 */
import { NOTICE_TOLERANCE_SECONDS, type Notice, type NoticeRequest, type Received } from "@billwright/core"
import { Redacted } from "effect"
import type { Stripe } from "stripe"
import { METADATA } from "./PaymentStates.ts"

const INVALID: Received = { type: "invalid" }
const FOREIGN: Received = { type: "foreign" }
/** Longest name of an event or an object. */
const MAX_NAME = 255

/** How events are checked. */
export interface NoticeOptions {
  readonly client: Stripe
  readonly webhookSecrets: ReadonlyArray<Redacted.Redacted<string>>
  /** The connected account whose events these are. `null`: the client's own. */
  readonly account: string | null
}

/** The instant of a signature, in seconds. */
const signedAt = (header: string): number =>
  Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(header)?.[1] ?? Number.NaN)

/**
 * The event, if one of the secrets signed it. The SDK refuses what was signed too long ago, and takes whatever is signed
 * in the future.
 */
const verified = (
  { client, webhookSecrets }: NoticeOptions,
  request: NoticeRequest,
  now: number,
): unknown => {
  const header = request.headers["stripe-signature"] ?? ""
  if (!(signedAt(header) - now / 1_000 <= NOTICE_TOLERANCE_SECONDS)) return undefined
  const body = Buffer.from(request.body)
  for (const secret of webhookSecrets) {
    try {
      const tolerance = NOTICE_TOLERANCE_SECONDS
      return client.webhooks.constructEvent(body, header, Redacted.value(secret), tolerance, undefined, now)
    } catch {
      // Another secret may be the right one.
    }
  }
  return undefined
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {}

const nameOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= MAX_NAME ? value : undefined

/** What the object of an event is, among the things that are read again. */
const aboutOf = (object: Fields): Pick<Notice, "about" | "reference"> | undefined => {
  const reference = nameOf(object["id"])
  if (reference === undefined) return undefined
  switch (object["object"]) {
    case "payment_intent":
      return METADATA.payment in fieldsOf(object["metadata"]) ? { about: "payment", reference } : undefined
    case "refund":
      return { about: "refund", reference }
    case "dispute":
      return { about: "dispute", reference }
    default:
      return undefined
  }
}

/** Checks an event, and says what to read again. */
export const receive = (options: NoticeOptions, request: NoticeRequest, now: number): Received => {
  const signed = verified(options, request, now)
  if (signed === undefined) return INVALID
  const event = fieldsOf(signed)
  const eventId = nameOf(event["id"])
  const about = aboutOf(fieldsOf(fieldsOf(event["data"])["object"]))
  const account = nameOf(event["account"]) ?? null
  if (eventId === undefined || about === undefined || account !== options.account) return FOREIGN
  return {
    type: "notices",
    notices: [{ eventId, mode: event["livemode"] === true ? "live" : "test", ...about }],
  }
}
