/**
 * `@billwright/engine/proofs`: checks proofs of invoices without the server that made them, in browsers and on Node. It needs
 * neither a store nor a network.
 */
export { verifyProofs } from "./VerifyProofs.ts"
export type {
  GivenProof,
  ProofKeys,
  ProofProblem,
  ProofsEnd,
  VerifiedProofs,
  VerifyOptions,
} from "./VerifyProofs.ts"
