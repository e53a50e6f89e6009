/**
 * Proofs of invoices: what an issued invoice states, chained to the proof before and signed. What a proof says, and how it
 * is checked, are rules of `@billwright/engine/proofs`.
 */
import { Schema } from "effect"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"
import { INVOICE_ID_PREFIX, InvoiceId } from "./Invoice.ts"

/** The prefix of the ids of proofs. */
export const INVOICE_PROOF_ID_PREFIX = "prf"
/** Longest document, in code points. An invoice of 10,000 lines has about 20 million. */
const MAX_DOCUMENT_LENGTH = 100_000_000
/** Longest number of an invoice, in code points. */
const MAX_NUMBER_LENGTH = 100

export const InvoiceProofId = Id.schema(INVOICE_PROOF_ID_PREFIX).pipe(Schema.brand("InvoiceProofId"))
export type InvoiceProofId = typeof InvoiceProofId.Type

const Hash = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/), Schema.isMaxLength(64))
const KeyId = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{43}$/), Schema.isMaxLength(43))
const Signature = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]{86}==$/), Schema.isMaxLength(88))

const invoiceId = Field.id(InvoiceId, INVOICE_ID_PREFIX, "The invoice.")
const previous = Field.text(
  Hash,
  "The hash of the proof before of the series: 64 zeros for the first. No two proofs have the same one before.",
)

/** The definition of the resource; see `Resource`. */
export const invoiceProofs = Resource.make({
  type: "InvoiceProof",
  noun: "invoice proof",
  title: "Invoice proofs",
  description:
    "What an issued invoice states and was computed from, chained to the proof before and signed. It never changes.",
  about:
    "Proofs show without this server that invoices were not changed, and that none is missing. Each is made when its invoice is issued, if the server has a signing key.",
  path: "/invoice_proofs",
  scope: "invoices",
  id: InvoiceProofId,
  prefix: INVOICE_PROOF_ID_PREFIX,
  // It states the customer's name, address and tax id.
  personal: ["document"],
  fields: {
    invoiceId,
    number: Field.text(Text.bounded(1, MAX_NUMBER_LENGTH), "The number of the invoice."),
    hash: Field.text(Hash, "The SHA-256 of the document, in hexadecimal."),
    previous,
    document: Field.json(
      Text.bounded(2, MAX_DOCUMENT_LENGTH),
      "The canonical JSON (RFC 8785) that is hashed and signed: the invoice, the terms of its plans, and its taxes.",
    ),
    keyId: Field.text(KeyId, "The key of the signature: its thumbprint by RFC 7638."),
    signature: Field.text(Signature, "The Ed25519 signature of the document in UTF-8, in base64."),
  },
  times: { createdAt: Field.instant("When it was made.") },
  create: {},
  filters: {
    invoiceId: Field.optional(Field.saying(invoiceId, "Only the proof of this invoice.")),
    previous: Field.optional(Field.saying(previous, "Only the proof that follows the one with this hash.")),
  },
  indexed: ["invoiceId", "previous"],
  unique: ["previous"],
  operations: {},
  example: {
    id: "prf_01kb2r9d3vffx9qd6k4v2n1h7c",
    invoice_id: "inv_01kb2r7aqte0btqgq0m9ecz4n1",
    number: "2026-0001",
    hash: "5d2f4a8c1e7b9036a4d8f0c2b6e1937508acdf42719be65308d4c1fa2b7e6093",
    previous: "0000000000000000000000000000000000000000000000000000000000000000",
    document: '{"accountId":"default","mode":"live","position":1}',
    key_id: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    signature: "yTC3bm5RaDmJMCJiHVVCNYYLbDkjVDpJ1vnNeO7w0WLHJcQG3oZYqSmnAxWKNDqOsdQEXDUFQkVbxr6ETbQJBA==",
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A proof of an invoice. */
export const InvoiceProof = invoiceProofs.Value
export interface InvoiceProof extends Schema.Schema.Type<typeof InvoiceProof> {}

/** Which proofs to list. */
export const ListInvoiceProofs = invoiceProofs.List
export interface ListInvoiceProofs extends Schema.Schema.Type<typeof ListInvoiceProofs> {}

/** The tenant has no proof with this id. */
export const InvoiceProofNotFound = invoiceProofs.NotFound
export type InvoiceProofNotFound = InstanceType<typeof InvoiceProofNotFound>
