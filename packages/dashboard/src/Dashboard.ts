/**
 * Serves the dashboard: a function from `Request` to `Response`, for every host that speaks Fetch, and a handler
 * for `node:http` and the frameworks above it.
 *
 * It serves files. Data comes from the REST API, which the page asks by itself.
 */
export { type DashboardHandler, type DashboardOptions, handler } from "./Handler.ts"
export { type NodeHandler, nodeHandler } from "./NodeHandler.ts"
