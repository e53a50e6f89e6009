/**
 * The part of the Standard Schema interface (https://standardschema.dev) that Billwright uses. zod, valibot,
 * ArkType and many others implement it.
 */

/** A schema that validates values and knows their type. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    /** The schema library: `zod`, `valibot`. */
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** The result of a validation: the value, or what is wrong with it. */
export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<StandardIssue> }

/** What is wrong with a value, and where in it (https://standardschema.dev). */
export interface StandardIssue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}
