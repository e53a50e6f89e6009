/**
 * Says what is wrong with the keys when a stored secret or header can't be decrypted, and logs it while webhooks are sent.
 */
import type { Effect } from "effect"
import * as OutageLog from "../shared/OutageLog.ts"
import type { EndpointId } from "./Endpoint.ts"
import { type Keyring, PLAIN, type SecretUnavailable } from "./Keyring.ts"

/** How the secret was encrypted, after "was" or "were", and what to do about it. */
interface Explanation {
  readonly problem: string
  readonly advice: string
}

/** `keyIds` are those of the keyring, and `where` is the place of its keys. */
export const explain = (
  { keyId }: SecretUnavailable,
  keyIds: ReadonlyArray<string>,
  where: string,
): Explanation => {
  if (keyIds.includes(keyId)) {
    return {
      problem: `encrypted with a key that has the id "${keyId}" but differs from the one in ${where}, or changed or moved since`,
      advice: "pass that key",
    }
  }
  return keyId === PLAIN
    ? {
        problem: "stored without encryption",
        advice: `add "${PLAIN}" to ${where} after the first key, until rotate-encryption has encrypted them`,
      }
    : {
        problem: `encrypted with the key "${keyId}", which is missing`,
        advice: `add it to ${where} after the first key`,
      }
}

/** Logs that nothing can be sent to an endpoint, because a secret or a header of it can't be decrypted. */
export type LogLostKey = (error: SecretUnavailable, endpoint: EndpointId) => Effect.Effect<void>

/** With a log for each key: one key that is missing may stop the webhooks to all endpoints. */
export const makeLog = ({ keyIds }: Keyring["Service"]): LogLostKey => {
  const outages = new Map<string, OutageLog.OutageLog>()
  const outageOf = (keyId: string): OutageLog.OutageLog => {
    const known = outages.get(keyId)
    if (known !== undefined) return known
    // Its end is never reported: this process gets no other keys.
    const made = OutageLog.make("")
    outages.set(keyId, made)
    return made
  }
  return (error, endpoint) => {
    const { advice, problem } = explain(error, keyIds, "the encryption keys")
    return outageOf(error.keyId).failed(
      `nothing is sent to the webhook endpoint ${endpoint}, because its secret or a header was ${problem}: ${advice}, and start again; if the key is lost, rotate the secret of the endpoint and set its headers again`,
      error,
    )
  }
}
