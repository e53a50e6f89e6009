/**
 * `billwright/proof`: checks proofs of invoices without the server that made them. It runs in browsers and on Node, and needs
 * neither a store nor a network. `docs/proofs.md` has what a proof says, and what it shows.
 */
export * from "@billwright/engine/proofs"
