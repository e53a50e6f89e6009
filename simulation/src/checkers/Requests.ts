/**
 * I8: every attempt of an event has its id, its bytes, a signature that verifies, and the time of the attempt.
 */
import { createHmac } from "node:crypto"
import { callsOf, type CallOf, entriesOf, type History, type Received } from "../History.ts"

/** Other secrets that sign beside the newest at most. */
const MAX_PREVIOUS = 4
const SECOND = 1_000

type Rotation = CallOf<"RotateSecret">

/** A secret that its receiver knows, and the rotations after it. */
interface KnownSecret {
  readonly secret: string
  readonly madeAt: number
  readonly later: ReadonlyArray<Rotation>
}

/** HMAC by another library than the one that signs. */
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
              // One that overlaps may have been before or after.
              later: rotations.filter((other) => other !== rotation && other.endOrder > rotation.order),
            },
          ]
        : [],
    )
    byUrl.set(ask.url, [first, ...others])
  }
  return byUrl
}

/** A rotation happened between these two, and a clock may have been set back meanwhile. */
const earliest = ({ clock }: Rotation): number => Math.min(...clock)
const latest = ({ clock }: Rotation): number => Math.max(...clock)

/** Until when a secret signs for sure, and when it has ceased for sure, by the clocks of who rotated. */
const lifeOf = ({ later, madeAt }: KnownSecret, before: number) => {
  const ends = later.map((rotation) => earliest(rotation) + rotation.ask.overlapSeconds * SECOND)
  const sureEnds = later
    .filter(({ answer, endOrder, order }) => answer._tag === "Done" && order > madeAt && endOrder < before)
    .map((rotation) => latest(rotation) + rotation.ask.overlapSeconds * SECOND)
  const until = Math.min(Number.POSITIVE_INFINITY, ...ends)
  // By a rotation it is dropped, if it has ended by the clock of who rotates.
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
 * When the process that sent a request took what it sent, at the earliest. A transaction may read secrets before they
 * are rotated, and be committed after.
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

/** I8. */
export const requestsAreRight = (history: History): ReadonlyArray<string> => {
  const payloads = new Map(history.stored.events.map(({ event }) => [event.id as string, event.payload]))
  const secrets = secretsByUrl(history)
  const claims = earliestClaims(history)
  const ids = new Map(entriesOf(history, "EndpointSeen").map(({ id, url }) => [url, id]))
  return history.received.flatMap((request) => {
    const id = request.headers["webhook-id"] ?? ""
    const payload = payloads.get(id)
    if (payload === undefined) return [`${nameOf(request)} is of no event`]
    const problems: Array<string> = []
    if (payload !== request.body) problems.push(`${nameOf(request)} has other bytes than the event`)
    if (Number(request.headers["webhook-timestamp"]) !== Math.floor(request.sentAt / SECOND)) {
      problems.push(`${nameOf(request)} has not the time of its attempt`)
    }
    const claimedAt = claims.get(`${request.process} ${id} ${ids.get(request.url)}`) ?? request.order
    problems.push(...problemsOfSignature(request, secrets.get(request.url) ?? [], claimedAt))
    return problems
  })
}
