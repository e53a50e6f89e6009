/** The option `proofKey`, prepared. It is not in `ProofKey.ts`, because its type is one of the core, which a host's compiler must not see. */
import { ProofKey } from "@billwright/core"
import { Redacted } from "effect"
import { orConfigurationError } from "./ReadProofKey.ts"

/** Prepares the option `proofKey`. */
export const toSigner = (proofKey: string): ProofKey.ProofSigner =>
  orConfigurationError(() => ProofKey.signer(Redacted.make(proofKey)))
