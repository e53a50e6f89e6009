/**
 * The Standard Schema interface (https://standardschema.dev), as far as it is used: zod, valibot, ArkType and many
 * others implement it.
 */

/** A schema that checks values and tells what their type is. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    /** Who made it: `zod`, `valibot`. */
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<StandardIssue> }

export interface StandardIssue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}
