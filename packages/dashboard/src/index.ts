/**
 * The operator's dashboard of Billwright, to be mounted in any host under any path.
 */
export * as Dashboard from "./Dashboard.ts"
