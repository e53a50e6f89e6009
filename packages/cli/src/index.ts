/**
 * The `billwright` command as a value, for programs that embed it in a command of their own.
 */
export { billwright } from "./Billwright.ts"
export type { Failure } from "./Failure.ts"
