/**
 * A charge of a plan version, in the form that it has in files, in REST and in `rate`. Decimals are strings.
 */

/** A price for each currency, as a decimal of the currency's unit: `{"EUR": "0.01", "USD": "0.011"}`. */
export type Prices = Readonly<Record<string, string>>

/** How a converted quantity is rounded to an integer. `half_up` takes 0.5 up; `none`, the default, keeps fractions. */
export type ConvertRounding = "up" | "down" | "half_up" | "none"

/** Turns the units that are metered into the units that are priced: bytes into gigabytes. */
export interface Convert {
  readonly divide_by: string
  readonly round?: ConvertRounding
}

/** Which amounts of a meter count: for each declared dimension, the values that do. */
export type Where = Readonly<Record<string, ReadonlyArray<string>>>

/** What charges of every model may have. */
interface AnyCharge {
  /** Names the charge in its plan: lower-case letters, digits and underscores, a letter first, at most 64. */
  readonly key: string
  /** What the customer reads on the invoice. The key, where it is left out. */
  readonly name?: string
  /** Billed before the period (`advance`) or after it (`arrears`). Flat fees and quantities: `advance`; usage: `arrears`. */
  readonly timing?: "advance" | "arrears"
  /** The meter that gives the quantity. */
  readonly meter?: string
  /** The key in the subscription's `quantities` that gives the quantity, such as `seats`. */
  readonly quantity?: string
  /** Units that are not priced, of each period. */
  readonly free?: string
  readonly convert?: Convert
  /** The least and the most that the charge costs in a full period. A part of a period has its share of them. */
  readonly minimum?: Prices
  readonly maximum?: Prices
  readonly where?: Where
  /** A declared dimension: one line for each of its values. */
  readonly by?: string
}

/** A fee for the period, whatever was used. A part of a period costs its share. */
export interface FlatCharge extends AnyCharge {
  readonly model: "flat"
  readonly price: Prices
}

/** Each unit at one price. */
export interface UnitCharge extends AnyCharge {
  readonly model: "unit"
  readonly price: Prices
}

/** Whole packages of `size` units: one that is begun is paid. */
export interface PackageCharge extends AnyCharge {
  readonly model: "package"
  readonly price: Prices
  readonly size: string
}

/**
 * A range of quantities with a price of its own. It ends with `up_to`, which belongs to it; the last tier has none.
 * `flat` is due once the tier is entered, that of the first tier always. What is left out is 0.
 */
export interface Tier {
  readonly up_to?: string
  readonly price?: Prices
  readonly flat?: Prices
}

/** Each tier prices its own slice of the quantity. */
export interface GraduatedCharge extends AnyCharge {
  readonly model: "graduated"
  readonly tiers: ReadonlyArray<Tier>
}

/** The tier that the quantity falls in prices all of it. */
export interface VolumeCharge extends AnyCharge {
  readonly model: "volume"
  readonly tiers: ReadonlyArray<Tier>
}

/** A tier that is priced in whole packages of `size` units. */
export interface PackageTier extends Tier {
  readonly size: string
}

/** Each tier prices its own slice, in whole packages. */
export interface GraduatedPackageCharge extends AnyCharge {
  readonly model: "graduated_package"
  readonly tiers: ReadonlyArray<PackageTier>
}

/**
 * A share of amounts of money: quantities are integers of the minor unit. `flat`, `minimum_per_record` and
 * `maximum_per_record` are of each record; the two bounds hold for rate and flat together.
 */
export interface PercentageCharge extends AnyCharge {
  readonly model: "percentage"
  /** In percent: `"2.9"`. */
  readonly rate: string
  readonly flat?: Prices
  readonly minimum_per_record?: Prices
  readonly maximum_per_record?: Prices
}

/** A tier that takes a share of its slice, in percent. `up_to` is an amount in minor units. */
export interface PercentageTier {
  readonly up_to?: string
  readonly rate?: string
  readonly flat?: Prices
}

/** Each tier takes its own share of its slice of the amount. */
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

/** Whether each record is priced by itself, so that the records of the period are needed and not just their total. */
export const pricesEachRecord = (charge: Charge): boolean =>
  charge.model === "percentage" &&
  (charge.flat !== undefined ||
    charge.minimum_per_record !== undefined ||
    charge.maximum_per_record !== undefined)

/** Whether a part of a period costs its share: flat fees, and what is paid for in advance or by the subscription's quantities. */
export const isProrated = (charge: Charge): boolean =>
  charge.model === "flat" || charge.timing === "advance" || charge.quantity !== undefined
