/**
 * Where billing stores its data.
 */

/**
 * Made by `memory()` of `billwright/memory`, by `postgres()` or `embedded()` of `billwright/postgres`, or by
 * `defineStore()` of `billwright/adapter`.
 */
export interface Store {
  /** What it stores on: `memory`, `postgres`, or the name that `defineStore` was given. */
  readonly kind: string
}
