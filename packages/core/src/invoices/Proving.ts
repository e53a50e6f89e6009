/**
 * Makes the proofs of invoices when they are issued, in the same transaction.
 */
import {
  FIRST_PREVIOUS,
  plansOfInvoice,
  proofOf,
  type ProofPlan,
  proofText,
  readNumber,
} from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { PlanStore } from "../catalog/PlanStore.ts"
import * as Batch from "../shared/Batch.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import * as Sha256 from "../shared/Sha256.ts"
import { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import type { StoredInvoice } from "./Invoice.ts"
import { type InvoiceProof, INVOICE_PROOF_ID_PREFIX, InvoiceProofId, invoiceProofs } from "./InvoiceProof.ts"
import { InvoiceSettings } from "./InvoiceSettings.ts"
import type { ProofSigner } from "./ProofKey.ts"

/** Proves what is issued. */
export interface Prover {
  /**
   * Makes the proof of an invoice that the current transaction has just issued. The transaction holds the series of numbers,
   * so that proofs are made one after another.
   */
  readonly prove: (issued: StoredInvoice) => Effect.Effect<void, StorageError, CurrentTenant>
}

/** Without it, invoices have no proofs. */
export class Proving extends Context.Reference<Prover>("@billwright/core/invoices/Proving", {
  defaultValue: (): Prover => ({ prove: () => Effect.void }),
}) {
  /** Proofs with the signatures of a key. `undefined`: there are no proofs. */
  static readonly layerWith = (
    signer: ProofSigner | undefined,
  ): Layer.Layer<never, never, Collections | IdGenerator | PlanStore> =>
    signer === undefined ? Layer.empty : Layer.effect(Proving, make(signer))
}

/** The end of a series: where the next proof goes. */
interface End {
  readonly previous: string
  readonly position: number
}

const positionOf = ({ document }: InvoiceProof): number =>
  (JSON.parse(document) as { readonly position: number }).position

const make = Effect.fnUntraced(function* (signer: ProofSigner) {
  const proofs = (yield* Collections).of(invoiceProofs)
  const plans = yield* PlanStore
  const ids = yield* IdGenerator
  const { numberFormat: format } = yield* InvoiceSettings

  const first = (filter: Parameters<typeof proofs.list>[0]) =>
    proofs.list(filter, { limit: 1, cursor: undefined }).pipe(
      Effect.catchTag("CursorNotFound", Effect.die),
      Effect.map(({ data }) => data[0]),
    )

  /**
   * The newest proof by its id is the last one, or close to it: clocks of machines differ. Whatever follows it is found by
   * its hash.
   */
  const findEnd = Effect.gen(function* () {
    let end: End = { previous: FIRST_PREVIOUS, position: 0 }
    let next = yield* first({})
    while (next !== undefined) {
      end = { previous: next.hash, position: positionOf(next) }
      next = yield* first({ previous: next.hash })
    }
    return end
  })

  const plansOf = Effect.fnUntraced(function* ({ state }: StoredInvoice) {
    const found: Array<ProofPlan> = []
    for (const { key, version } of plansOfInvoice(state)) {
      const plan = Option.getOrUndefined(yield* plans.findVersion(key, version))
      if (plan === undefined)
        return yield* Effect.die(new TypeError(`the plan ${key} has no version ${version}`))
      found.push({ key, version, hash: plan.hash, terms: plan.terms })
    }
    return found
  })

  const append = Effect.fnUntraced(function* (issued: StoredInvoice, { position, previous }: End) {
    const { accountId, mode } = yield* CurrentTenant
    const { id: invoiceId, state, taxedBy } = issued
    const place = { accountId, mode, position: position + 1, previous, format }
    const document = proofText(proofOf(place, state, { plans: yield* plansOf(issued), tax: taxedBy }))
    const hash = Sha256.hex(document)
    const isNew = yield* proofs.insert({
      id: InvoiceProofId.make(yield* ids.next(INVOICE_PROOF_ID_PREFIX)),
      invoiceId,
      number: state.number ?? "",
      hash,
      previous,
      document,
      keyId: signer.publicKey.kid,
      signature: yield* signer.sign(document),
      createdAt: yield* DateTime.now,
    })
    if (!isNew) {
      const cause = new Error(`another proof follows the one with the hash ${previous}`)
      return yield* new StorageError({ operation: "InvoiceProofs.insert", retryable: true, cause })
    }
    return { previous: hash, position: position + 1 }
  })

  /** Invoices of one transaction are proved in the order of their numbers. */
  const proveAll = Effect.fnUntraced(function* (all: ReadonlyArray<StoredInvoice>) {
    const counterOf = ({ state }: StoredInvoice) => readNumber(format, state.number ?? "")?.counter ?? 0
    let end = yield* findEnd
    for (const issued of all.toSorted((a, b) => counterOf(a) - counterOf(b))) {
      end = yield* append(issued, end)
    }
    return all.map(() => undefined)
  })

  return {
    prove: (issued: StoredInvoice) => Effect.asVoid(Batch.together("Proving.prove", issued, proveAll)),
  } satisfies Prover
})
