/**
 * Serves the dashboard: as a function from `Request` to `Response`, for every host that uses the Fetch standard, and as a
 * handler for `node:http` and the frameworks on top of it.
 *
 * It serves only files. The page gets its data from the REST API.
 */
export { type DashboardHandler, type DashboardOptions, handler } from "./Handler.ts"
export { SECTIONS } from "./Sections.ts"
export { type NodeHandler, nodeHandler } from "./NodeHandler.ts"
