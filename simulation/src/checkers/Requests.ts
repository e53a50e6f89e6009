/**
 * I8: every request has the event's id and bytes, a valid signature, and the time of its attempt.
 */
import { createHmac } from "node:crypto"
import { callsOf, type CallOf, entriesOf, type History, type Received } from "../History.ts"

/** The most older secrets that sign in addition to the newest. */
const MAX_PREVIOUS = 4
const SECOND = 1_000

type Rotation = CallOf<"RotateSecret">

/** A secret that its receiver knows, and the rotations after it. */
interface KnownSecret {
  readonly secret: string
  readonly madeAt: number
  readonly later: ReadonlyArray<Rotation>
}

/** HMAC by another library than the one that signs in the product. */
const signatureOf = (secret: string, { body, headers }: Received): string => {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64")
  const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`
  return `v1,${createHmac("sha256", key).update(content).digest("base64")}`
}

const secretsByUrl = (history: History): ReadonlyMap<string, ReadonlyArray<KnownSecret>> => {
  const byUrl = new Map<string, ReadonlyArray<KnownSecret>>()
  for (const { answer, ask, endOrder } of callsOf(history, "CreateEndpoint")) {
    if (answer._tag !== "Done") continue
    const rotations = callsOf(history, "RotateSecret").filter(
      (call) => call.ask.endpointId === answer.ids[0] && call.answer._tag !== "Rejected",
    )
    const first = { secret: answer.secret!, madeAt: endOrder, later: rotations }
    const others = rotations.flatMap((rotation) =>
      rotation.answer._tag === "Done"
        ? [
            {
              secret: rotation.answer.secret!,
              madeAt: rotation.endOrder,
              // A concurrent rotation may have been before or after.
              later: rotations.filter((other) => other !== rotation && other.endOrder > rotation.order),
            },
          ]
        : [],
    )
    byUrl.set(ask.url, [first, ...others])
  }
  return byUrl
}

/** A rotation happened between these two times, and its clock may have been set back in between. */
const earliest = ({ clock }: Rotation): number => Math.min(...clock)
const latest = ({ clock }: Rotation): number => Math.max(...clock)

/**
 * Until when a secret certainly signs, and from when on it certainly doesn't, by the clocks of the rotating
 * processes.
 */
const lifeOf = ({ later, madeAt }: KnownSecret, before: number) => {
  const ends = later.map((rotation) => earliest(rotation) + rotation.ask.overlapSeconds * SECOND)
  const sureEnds = later
    .filter(({ answer, endOrder, order }) => answer._tag === "Done" && order > madeAt && endOrder < before)
    .map((rotation) => latest(rotation) + rotation.ask.overlapSeconds * SECOND)
  const until = Math.min(Number.POSITIVE_INFINITY, ...ends)
  // A rotation removes the secret if it has ended by the clock of the rotating process.
  const isDropped = later.some((rotation) => latest(rotation) >= until)
  return {
    until: isDropped ? Number.NEGATIVE_INFINITY : until,
    gone: Math.min(Number.POSITIVE_INFINITY, ...sureEnds),
  }
}

const problemsOfSignature = (
  request: Received,
  secrets: ReadonlyArray<KnownSecret>,
  claimedAt: number,
): ReadonlyArray<string> => {
  const signatures = (request.headers["webhook-signature"] ?? "").split(" ")
  const at = Number(request.headers["webhook-timestamp"]) * SECOND
  return secrets.flatMap((known) => {
    const { gone, until } = lifeOf(known, claimedAt)
    const isSigned = signatures.includes(signatureOf(known.secret, request))
    const isSure = known.madeAt < claimedAt && known.later.length < MAX_PREVIOUS && at + SECOND < until
    if (isSure && !isSigned) return [`${nameOf(request)} is not signed with a secret that is in use`]
    const isOver = known.later.every((rotation) => earliest(rotation) < at) && at > gone + SECOND
    return isOver && isSigned ? [`${nameOf(request)} is signed with a secret that has ended`] : []
  })
}

const nameOf = ({ headers, url }: Received): string => `a request of ${headers["webhook-id"]} to ${url}`

/**
 * The earliest time when a request's sender may have read what it sent. A transaction may read secrets before a
 * rotation and commit after it.
 */
const earliestClaims = (history: History): ReadonlyMap<string, number> => {
  const claims = new Map<string, number>()
  for (const { deliveries, order, process, since = order } of entriesOf(history, "Claimed")) {
    for (const { endpointId, eventId } of deliveries) {
      const key = `${process} ${eventId} ${endpointId}`
      claims.set(key, Math.min(since, claims.get(key) ?? since))
    }
  }
  return claims
}

/** Whether an event was redacted, because its customer was erased. */
const isRedacted = (payload: string): boolean =>
  (JSON.parse(payload) as { readonly redacted?: boolean }).redacted === true

/**
 * Which requests have other bytes than their event. Erasing a customer changes the bytes of its events once: requests
 * before that have the bytes of before, which are the same in all of them.
 */
const withOtherBytes = (history: History): ReadonlySet<Received> => {
  const payloads = new Map(history.stored.events.map(({ event }) => [event.id as string, event.payload]))
  const before = new Map<string, string>()
  const others = new Set<Received>()
  for (const request of history.received) {
    const id = request.headers["webhook-id"] ?? ""
    const payload = payloads.get(id)
    if (payload === undefined || payload === request.body) continue
    if (!before.has(id)) before.set(id, request.body)
    if (!isRedacted(payload) || isRedacted(request.body) || before.get(id) !== request.body)
      others.add(request)
  }
  return others
}

/**
 * Requests with the bytes of before an erasure. Each needs a claim of its process from before that, which it may have been slow to
 * send.
 */
const withOldBytes = (history: History): ReadonlyArray<string> => {
  const redactedAt = new Map(
    entriesOf(history, "Redacted").flatMap(({ eventIds, order }) =>
      eventIds.map((id) => [id, order] as const),
    ),
  )
  if (redactedAt.size === 0) return []
  const payloads = new Map(history.stored.events.map(({ event }) => [event.id as string, event.payload]))
  const urls = new Map(entriesOf(history, "EndpointSeen").map(({ id, url }) => [id, url]))
  const claims = new Map<string, number>()
  const count = (of: string, by: number) => claims.set(of, (claims.get(of) ?? 0) + by)
  for (const { deliveries, order, process } of entriesOf(history, "Claimed")) {
    for (const { endpointId, eventId } of deliveries) {
      if (order < (redactedAt.get(eventId) ?? 0)) count(`${process} ${eventId} ${urls.get(endpointId)}`, 1)
    }
  }
  return history.received.flatMap((request) => {
    const id = request.headers["webhook-id"] ?? ""
    if (request.isCopy || !redactedAt.has(id) || payloads.get(id) === request.body) return []
    const of = `${request.process} ${id} ${request.url}`
    count(of, -1)
    return claims.get(of)! < 0 ? [`${nameOf(request)} has the bytes of before an erasure`] : []
  })
}

/** I8. */
export const requestsAreRight = (history: History): ReadonlyArray<string> => {
  const events = new Set(history.stored.events.map(({ event }) => event.id as string))
  const others = withOtherBytes(history)
  const secrets = secretsByUrl(history)
  const claims = earliestClaims(history)
  const ids = new Map(entriesOf(history, "EndpointSeen").map(({ id, url }) => [url, id]))
  const wrong = history.received.flatMap((request) => {
    const id = request.headers["webhook-id"] ?? ""
    if (!events.has(id)) return [`${nameOf(request)} belongs to no event`]
    const problems: Array<string> = []
    if (others.has(request)) problems.push(`${nameOf(request)} has other bytes than the event`)
    if (Number(request.headers["webhook-timestamp"]) !== Math.floor(request.sentAt / SECOND)) {
      problems.push(`${nameOf(request)} does not have the time of its attempt`)
    }
    const claimedAt = claims.get(`${request.process} ${id} ${ids.get(request.url)}`) ?? request.order
    problems.push(...problemsOfSignature(request, secrets.get(request.url) ?? [], claimedAt))
    return problems
  })
  return [...wrong, ...withOldBytes(history)]
}
