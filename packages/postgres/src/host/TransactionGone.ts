/**
 * What a statement rejects with that comes too late.
 */

/** The transaction that a call was made for is not the one on its connection any more. Nothing was done. */
export class TransactionGone extends Error {
  override readonly name = "TransactionGone"

  constructor(options?: ErrorOptions) {
    super("the transaction that this belongs to is not the one on its connection any more", options)
  }
}
