/**
 * The REST API of Billwright: a server over the library's services, for any runtime that supports the Fetch
 * standard.
 */
export * as CustomerExport from "./server/CustomerExport.ts"
export * as FetchHandler from "./server/FetchHandler.ts"
export type { HttpRequest, HttpResponse } from "./server/HttpExchange.ts"
export * as Server from "./server/Server.ts"
