/**
 * Keys that sign proofs of invoices.
 */
import { ProofKey } from "@billwright/core"
import { Effect, Redacted } from "effect"
import { orConfigurationError } from "./ReadProofKey.ts"

/** The public key of a signing key, as JWK (RFC 8037). */
export interface PublicProofKey {
  readonly kty: "OKP"
  readonly crv: "Ed25519"
  readonly x: string
  /** The thumbprint of the key (RFC 7638), by which proofs name it. */
  readonly kid: string
  readonly alg: "EdDSA"
  readonly use: "sig"
}

/** Makes a key for the option `proofKey` of `createBilling`. Keep it as safe as a password. */
export const generateProofKey = async (): Promise<string> =>
  Redacted.value(await Effect.runPromise(ProofKey.generate))

/**
 * The public key of a signing key. Publish it, also after you have replaced the signing key: proofs are checked with the key
 * that signed them. Throws a `ConfigurationError` if the text is not a signing key.
 */
export const publicProofKey = (proofKey: string): PublicProofKey =>
  orConfigurationError(() => ProofKey.toPublic(Redacted.make(proofKey)))
