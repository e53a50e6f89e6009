/**
 * The definitions of the REST API, without server code. Servers, clients and documents use them.
 */
export { BillwrightApi, VERSION_PREFIX } from "./BillwrightApi.ts"
export * as ErrorBody from "./ErrorBody.ts"
export type { Example } from "./Example.ts"
export { examples } from "./Examples.ts"
export type { Json } from "./JsonSchema.ts"
export { makeOpenApiDocument } from "./OpenApiDocument.ts"
export { RequiredPermission } from "./Permission.ts"
export { SecretAnswer } from "./SecretAnswer.ts"
export * as Wire from "./Wire.ts"
