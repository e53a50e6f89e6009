/**
 * Whether the transaction that is under way ends as soon as the operation in it has ended.
 *
 * The numbers of invoices have no gaps, so whoever takes one holds the series until its transaction ends. In a transaction
 * of the host, which may be long, no invoice is issued: it is marked as ready, and a billing run issues it.
 */
import { Context } from "effect"

/** Only who begins and ends the transaction around one operation sets it. */
export class ShortTransaction extends Context.Reference<boolean>(
  "@billwright/core/invoices/ShortTransaction",
  { defaultValue: () => false },
) {}
