/**
 * The REST API of Billwright on Node's own HTTP server.
 */
export * as NodeHandler from "./NodeHandler.ts"
export * as NodeServer from "./NodeServer.ts"
export { ListenError } from "./NodeServer.ts"
