/**
 * Proofs of invoices, which show to others that no invoice was changed, and that none is missing.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/**
 * What an issued invoice states and was computed from, chained to the proof before and signed. It never changes.
 * `verifyProofs` of `billwright/proof` checks it.
 */
export interface InvoiceProof {
  /** `prf_…` */
  readonly id: string
  readonly invoiceId: string
  /** The number of the invoice. */
  readonly number: string
  /** The SHA-256 of the document, in hexadecimal. */
  readonly hash: string
  /** The hash of the proof before of the series: 64 zeros for the first. */
  readonly previous: string
  /** The canonical JSON (RFC 8785) that is hashed and signed: the invoice, the terms of its plans, and its taxes. */
  readonly document: string
  /** The key of the signature: its thumbprint by RFC 7638. */
  readonly keyId: string
  /** The Ed25519 signature of the document in UTF-8, in base64. */
  readonly signature: string
  readonly createdAt: Date
}

/** Selects proofs, newest first. */
export interface ListInvoiceProofs extends PageQuery {
  readonly invoiceId?: string | undefined
  /** Only the proof that follows the one with this hash. */
  readonly previous?: string | undefined
}

/**
 * Proofs are made when invoices are issued, if `createBilling` has a `proofKey`.
 *
 * Errors: `InvalidInputError`, `InvoiceProofNotFoundError`.
 */
export interface InvoiceProofs {
  get(id: string, options?: CallOptions): Promise<InvoiceProof>
  list(query?: ListInvoiceProofs, options?: CallOptions): Listing<InvoiceProof>
}
