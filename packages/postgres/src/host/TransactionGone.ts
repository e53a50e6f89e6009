/**
 * The error of a statement that comes after its transaction has ended.
 */

/** The call's transaction is no longer the one on its connection. Nothing was done. */
export class TransactionGone extends Error {
  override readonly name = "TransactionGone"

  constructor(options?: ErrorOptions) {
    super("the transaction of this call is no longer open on its connection", options)
  }
}
