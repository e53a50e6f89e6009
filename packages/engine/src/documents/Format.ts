/**
 * Numbers, money and dates as a locale writes them. Amounts stay exact: they are formatted from texts, never as floats.
 */
import * as Currency from "../money/Currency.ts"
import * as Exact from "../money/Exact.ts"
import type { Locale } from "./Language.ts"
import type { Days } from "./ServicePeriod.ts"

/** Digits after the point of a quantity, a price or an amount that is not rounded. More are cut. */
const MAX_DIGITS = Exact.SHOWN_DIGITS
/** Digits after the point of a part of a period, in percent. */
const SHARE_DIGITS = 2

/** Releases of Unicode's data differ in which narrow space they write. */
const evenSpaces = (text: string): string =>
  text.replaceAll(/[\u2007\u202f]/g, "\u00a0").replaceAll("\u2009", " ")

const NUMBERS = { numberingSystem: "latn" } as const
const CALENDAR = { calendar: "gregory", numberingSystem: "latn" } as const

/** A decimal text as a formatter takes it. */
const decimal = (text: string): `${number}` => text as `${number}`

export class Format {
  readonly #locale: Locale
  readonly #currency: string
  readonly #unit: string | null
  readonly #digits: number
  readonly #money: Intl.NumberFormat
  readonly #price: Intl.NumberFormat
  readonly #number: Intl.NumberFormat
  readonly #percent: Intl.NumberFormat
  readonly #dates = new Map<string, Intl.DateTimeFormat>()

  constructor(locale: Locale, currency: string, unit: string | null = null) {
    this.#locale = locale
    this.#currency = currency
    this.#unit = unit
    this.#digits = Currency.exponentOf(currency) ?? 0
    const style = { ...NUMBERS, style: "currency", currency } as const
    const digits = { minimumFractionDigits: this.#digits }
    const of = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale.tag, options)
    this.#money = of({ ...style, ...digits, maximumFractionDigits: this.#digits })
    this.#price = of({ ...style, ...digits, maximumFractionDigits: MAX_DIGITS })
    this.#number = of({ ...NUMBERS, maximumFractionDigits: MAX_DIGITS })
    this.#percent = of({ ...NUMBERS, style: "percent", maximumFractionDigits: MAX_DIGITS })
  }

  /** An amount in the minor unit. */
  money(amount: bigint): string {
    const text = Exact.text(Exact.ofUnits(amount, this.#digits))
    return evenSpaces(this.#money.format(decimal(text)))
  }

  /** An exact text in the unit of the currency, or of credits, with all of its digits. */
  price(text: string): string {
    return this.#unit === null
      ? this.#written(this.#price, Exact.ofText(text))
      : `${this.number(text)}\u00a0${this.#unit}`
  }

  /** The same, but prices are credits of a unit. */
  ofUnit(unit: string): Format {
    return new Format(this.#locale, this.#currency, unit)
  }

  /** An exact text of the minor unit, as money. */
  minor(text: string): string {
    return this.#written(this.#price, Exact.shift(Exact.ofText(text), this.#digits))
  }

  /** A quantity, as an exact text. */
  number(text: string): string {
    return this.#written(this.#number, Exact.ofText(text))
  }

  /** A rate in percent, such as `"19"`. */
  percent(text: string): string {
    return this.#written(this.#percent, Exact.shift(Exact.ofText(text), 2))
  }

  /** A part of a whole, in percent, rounded for people. */
  share(numerator: string, denominator: string): string {
    const part = Exact.ofFraction(BigInt(numerator), BigInt(denominator))
    const rounded = Exact.roundTo(part, SHARE_DIGITS + 2)
    return this.#written(this.#percent, Exact.ofUnits(rounded, SHARE_DIGITS + 2))
  }

  /** The day of an instant in a time zone. */
  date(millis: number, timezone: string): string {
    return evenSpaces(this.#dateFormat("long", timezone).format(millis))
  }

  /** The days of a half-open period in a time zone. */
  period(start: number, end: number, timezone: string): string {
    return evenSpaces(this.#dateFormat("medium", timezone).formatRange(start, Math.max(start, end - 1)))
  }

  /** Days by their local midnights, both included. */
  days({ end, start }: Days<number>): string {
    return this.period(start, end + 1, "UTC")
  }

  /** The name of a country. */
  country(code: string): string {
    return new Intl.DisplayNames(this.#locale.tag, { type: "region" }).of(code) ?? code
  }

  #written(format: Intl.NumberFormat, value: Exact.Exact): string {
    const text = Exact.shown(value)
    const isCut = text.endsWith(Exact.MORE_DIGITS)
    const written = evenSpaces(format.format(decimal(isCut ? text.slice(0, -1) : text)))
    return isCut ? `${written}${Exact.MORE_DIGITS}` : written
  }

  #dateFormat(dateStyle: "long" | "medium", timeZone: string): Intl.DateTimeFormat {
    const key = `${dateStyle} ${timeZone}`
    const known = this.#dates.get(key)
    if (known !== undefined) return known
    const made = new Intl.DateTimeFormat(this.#locale.tag, { ...CALENDAR, dateStyle, timeZone })
    this.#dates.set(key, made)
    return made
  }
}
