/**
 * A charge of a plan version, in the form of files, REST and `rate`. Decimals are strings.
 */

/** A price for each currency, as a decimal in the currency's unit: `{"EUR": "0.01", "USD": "0.011"}`. */
export type Prices = Readonly<Record<string, string>>

/** How a converted quantity is rounded to an integer. `half_up` rounds 0.5 up. `none`, the default, keeps fractions. */
export type ConvertRounding = "up" | "down" | "half_up" | "none"

/** Converts metered units to priced units, such as bytes to gigabytes. */
export interface Convert {
  readonly divide_by: string
  readonly round?: ConvertRounding
}

/** Which usage of a meter counts: for each declared dimension, the values that count. */
export type Where = Readonly<Record<string, ReadonlyArray<string>>>

/** The fields of charges of every model. */
interface AnyCharge {
  /** Identifies the charge in its plan: a lower-case letter, then lower-case letters, digits or underscores; at most 64. */
  readonly key: string
  /** The name on the invoice. Default: the key. */
  readonly name?: string
  /**
   * Billed before the period (`advance`) or after it (`arrears`). Default: `advance` for flat fees and quantities,
   * `arrears` for usage.
   */
  readonly timing?: "advance" | "arrears"
  /** The meter that gives the quantity. */
  readonly meter?: string
  /** The key in the subscription's `quantities` that gives the quantity, such as `seats`. */
  readonly quantity?: string
  /** How many units of each period are free. */
  readonly free?: string
  readonly convert?: Convert
  /** The lowest and highest cost of the charge in a full period. In a part of a period, their share applies. */
  readonly minimum?: Prices
  readonly maximum?: Prices
  readonly where?: Where
  /** A declared dimension. The invoice has a line for each of its values. */
  readonly by?: string
  /**
   * Usage burns credits of this unit instead of costing money: a unit that the host defines, such as `credits`. The prices of
   * the charge are then in this unit alone: `{"credits": "0.5"}`. Only for usage, and not for percentages.
   */
  readonly burns?: string
}

/** A fee for the period that does not depend on usage. A part of a period costs its share. */
export interface FlatCharge extends AnyCharge {
  readonly model: "flat"
  readonly price: Prices
}

/** Each unit has the same price. */
export interface UnitCharge extends AnyCharge {
  readonly model: "unit"
  readonly price: Prices
}

/** Whole packages of `size` units are paid. A part of a package counts as a whole one. */
export interface PackageCharge extends AnyCharge {
  readonly model: "package"
  readonly price: Prices
  readonly size: string
}

/**
 * A range of quantities with its own price. It ends with `up_to`, which is part of it. The last tier has no `up_to`.
 * `flat` is due when the quantity reaches the tier; that of the first tier is always due. Prices left out are 0.
 */
export interface Tier {
  readonly up_to?: string
  readonly price?: Prices
  readonly flat?: Prices
}

/** Each tier prices the part of the quantity in its range. */
export interface GraduatedCharge extends AnyCharge {
  readonly model: "graduated"
  readonly tiers: ReadonlyArray<Tier>
}

/** The tier that contains the quantity prices the whole quantity. */
export interface VolumeCharge extends AnyCharge {
  readonly model: "volume"
  readonly tiers: ReadonlyArray<Tier>
}

/** A tier that is priced in whole packages of `size` units. */
export interface PackageTier extends Tier {
  readonly size: string
}

/** Each tier prices the part of the quantity in its range, in whole packages. */
export interface GraduatedPackageCharge extends AnyCharge {
  readonly model: "graduated_package"
  readonly tiers: ReadonlyArray<PackageTier>
}

/**
 * A percentage of amounts of money. Quantities are integers of the minor unit. `flat`, `minimum_per_record` and
 * `maximum_per_record` apply to each record. The minimum and maximum apply to the sum of percentage and `flat`.
 */
export interface PercentageCharge extends AnyCharge {
  readonly model: "percentage"
  /** The rate in percent, such as `"2.9"`. */
  readonly rate: string
  readonly flat?: Prices
  readonly minimum_per_record?: Prices
  readonly maximum_per_record?: Prices
}

/** A tier with its own rate, in percent. `up_to` is an amount in minor units. */
export interface PercentageTier {
  readonly up_to?: string
  readonly rate?: string
  readonly flat?: Prices
}

/** Each tier takes its percentage of the part of the amount in its range. */
export interface GraduatedPercentageCharge extends AnyCharge {
  readonly model: "graduated_percentage"
  readonly tiers: ReadonlyArray<PercentageTier>
}

export type Charge =
  | FlatCharge
  | UnitCharge
  | PackageCharge
  | GraduatedCharge
  | VolumeCharge
  | GraduatedPackageCharge
  | PercentageCharge
  | GraduatedPercentageCharge

export type ChargeModel = Charge["model"]

/** Whether a charge is of usage that costs money. */
export const isUsageForMoney = ({ burns, meter }: Pick<Charge, "burns" | "meter">): boolean =>
  meter !== undefined && burns === undefined

/** Whether each record is priced by itself. Rating then needs the records of the period and not only their total. */
export const pricesEachRecord = (charge: Charge): boolean =>
  charge.model === "percentage" &&
  (charge.flat !== undefined ||
    charge.minimum_per_record !== undefined ||
    charge.maximum_per_record !== undefined)

/** Whether a part of a period costs its share. So it is for flat fees, charges in advance, and charges of quantities. */
export const isProrated = (charge: Charge): boolean =>
  charge.model === "flat" || charge.timing === "advance" || charge.quantity !== undefined
