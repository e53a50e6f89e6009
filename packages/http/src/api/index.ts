/**
 * The definitions of the REST API, without server code: for servers, clients and documents alike.
 */
export { BillwrightApi, VERSION_PREFIX } from "./BillwrightApi.ts"
export * as ErrorBody from "./ErrorBody.ts"
export { examples, type Example } from "./Examples.ts"
export { openApiDocument, type Json } from "./OpenApiDocument.ts"
export { RequiredPermission } from "./Permission.ts"
export * as Wire from "./Wire.ts"
