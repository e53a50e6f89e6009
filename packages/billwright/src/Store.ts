/**
 * Where billing is kept.
 */

/** Made by `memory()` of `billwright/memory` or `postgres()` of `billwright/postgres`. */
export interface Store {
  readonly kind: "memory" | "postgres"
}
