/**
 * The contract of Billwright's storage as a test suite, and generators for the values of the domain.
 */
export * as Generators from "./Generators.ts"
export { plain } from "./PlainValue.ts"
export { forAll } from "./Property.ts"
export type { PropertyOptions } from "./Property.ts"
export * as InvoicingContract from "./InvoicingContract.ts"
export * as PaymentProviderContract from "./PaymentProviderContract.ts"
export * as Sample from "./Sample.ts"
export * as Receiver from "./ScriptedReceivers.ts"
export { ScriptedReceivers } from "./ScriptedReceivers.ts"
export * as StorageContract from "./StorageContract.ts"
export type { SuiteOptions } from "./StorageContract.ts"
export * as StorageModel from "./StorageModel.ts"
