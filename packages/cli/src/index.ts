/**
 * The `billwright` command as a value, for programs that include it in their own CLI.
 */
export { billwright } from "./Billwright.ts"
export type { Failure } from "./Failure.ts"
