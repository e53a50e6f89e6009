/**
 * Where billing stores its data.
 */

/** Made by `memory()` of `billwright/memory`, or `postgres()` or `embedded()` of `billwright/postgres`. */
export interface Store {
  readonly kind: "memory" | "postgres"
}
