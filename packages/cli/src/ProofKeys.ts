/**
 * Finds the keys that sign proofs of invoices, and publishes their public keys.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { ProofKey } from "@billwright/core"
import { Config, Effect, Option, Redacted } from "effect"
import { explainConfig, Misconfigured } from "./Store.ts"

const VARIABLE = "BILLWRIGHT_PROOF_KEYS"

/** Where a server publishes the public keys, as a JWK Set (RFC 7517). */
export const PATH = "/.well-known/billwright-proof-keys.json"

/** The keys that sign proofs. */
export interface ProofKeys {
  /** Signs. `undefined`: there are no proofs. */
  readonly signer: ProofKey.ProofSigner | undefined
  /** Of the key that signs, and of keys that did. */
  readonly publicKeys: ReadonlyArray<ProofKey.PublicProofKey>
}

/** The first key signs. The others signed before, and stay published. */
const keysOf = (all: ReadonlyArray<Redacted.Redacted<string>>): ProofKeys => {
  const [first] = all
  return {
    signer: first === undefined ? undefined : ProofKey.signer(first),
    publicKeys: all.map((key) => ProofKey.toPublic(key)),
  }
}

/** The keys of the environment variable, separated by spaces, commas or lines. Empty: there are no proofs. */
export const keys: Effect.Effect<ProofKeys, Misconfigured> = Effect.gen(function* () {
  const given = yield* Effect.mapError(Config.option(Config.Redacted(VARIABLE)), explainConfig)
  const texts = Option.isNone(given) ? [] : Redacted.value(given.value).split(/[\s,]+/)
  const all = texts.filter((text) => text !== "").map((text) => Redacted.make(text))
  return yield* Effect.try({
    try: () => keysOf(all),
    catch: (cause) => new Misconfigured({ message: `${VARIABLE}: ${(cause as Error).message}` }),
  })
})

/** The public keys as a JWK Set. */
export const jwksOf = ({ publicKeys }: ProofKeys): string =>
  JSON.stringify({ keys: publicKeys }, undefined, 2)

/** Answers requests for the public keys, and passes others on. Public keys are for everybody, so it asks for no API key. */
export const publishing =
  (
    found: ProofKeys,
    rest: (request: IncomingMessage, response: ServerResponse) => void,
  ): ((request: IncomingMessage, response: ServerResponse) => void) =>
  (request, response) => {
    if (request.url !== PATH) return rest(request, response)
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" })
      response.end()
      return
    }
    const body = jwksOf(found)
    response.writeHead(200, {
      "content-type": "application/jwk-set+json",
      "content-length": Buffer.byteLength(body),
      // Whoever checks proofs on another page reads them from there.
      "access-control-allow-origin": "*",
    })
    response.end(request.method === "HEAD" ? undefined : body)
  }
