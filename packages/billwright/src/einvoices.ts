/**
 * `billwright/einvoices`: an issued invoice or a credit note in the model of EN 16931, and its XML in UBL and CII, as pure
 * functions. They need neither a store nor a network, and run in browsers and on Node. `docs/e-invoices.md` has how terms of
 * the norm follow from ours.
 */
export * from "@billwright/engine/einvoices"
