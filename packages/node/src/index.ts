/**
 * The parts of Billwright that need Node: the transport of webhooks with its network guard, and key files.
 */
export type { ClientCertificate } from "./ClientCertificate.ts"
export type { Resolve } from "./HostLookup.ts"
export * as KeyFile from "./KeyFile.ts"
export * as PrivateFile from "./PrivateFile.ts"
export * as UndiciTransport from "./UndiciTransport.ts"
export type { UndiciTransportOptions } from "./UndiciTransport.ts"
