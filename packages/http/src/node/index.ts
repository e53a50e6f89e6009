/**
 * The REST API of Billwright on Node's own HTTP server.
 */
export * as NodeHandler from "./NodeHandler.ts"
