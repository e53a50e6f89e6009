export * from "./BillingError.ts"
export * from "./ConflictError.ts"
export * from "./NotFoundError.ts"
export * from "./RuntimeError.ts"
