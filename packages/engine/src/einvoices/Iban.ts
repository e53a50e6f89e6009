/**
 * Account numbers in a text.
 */

/**
 * The countries of each length of an IBAN, with its country and check digits. From the IBAN Registry (ISO 13616) that SWIFT
 * keeps as the registration authority, with the countries of the end of 2024.
 */
const COUNTRIES: Readonly<Record<number, string>> = {
  15: "NO",
  16: "BE",
  18: "DK FI FK FO GL NL SD",
  19: "MK SI",
  20: "AT BA EE KZ LT LU MN XK",
  21: "CH HR LI LV",
  22: "BG BH CR DE GB GE IE ME RS VA",
  23: "AE GI IL IQ OM SO TL",
  24: "AD CZ ES MD PK RO SA SE SK TN VG",
  25: "LY PT ST",
  26: "IS TR",
  27: "BI DJ FR GR IT MC MR SM",
  28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
  29: "BR EG PS QA UA",
  30: "JO KW MU YE",
  31: "MT SC",
  32: "LC",
  33: "RU",
}

const LENGTHS: ReadonlyMap<string, number> = new Map(
  Object.entries(COUNTRIES).flatMap(([length, countries]) =>
    countries.split(" ").map((country) => [country, Number(length)] as const),
  ),
)

const START = /\b([A-Z]{2})\d{2}/g
const MODULUS = 97n

/** Whether the check digits of an IBAN are right. */
const isChecked = (iban: string): boolean => {
  const digits = Array.from(iban.slice(4) + iban.slice(0, 4), (character) => Number.parseInt(character, 36))
  return BigInt(digits.join("")) % MODULUS === 1n
}

/** So many letters and digits at the start of a text, without the spaces between them. They must end with a word. */
const packed = (text: string, length: number): string | undefined =>
  new RegExp(`^(?:[A-Z0-9] ?){${length - 1}}[A-Z0-9]\\b`).exec(text)?.[0].replaceAll(" ", "")

/**
 * The first IBAN in a text. Only one of the length of its country counts: words that follow it on its line look like a part
 * of it, and every 97th longer one has right check digits by chance.
 */
export const ibanIn = (text: string): string | null => {
  for (const { 1: country = "", index } of text.matchAll(START)) {
    const length = LENGTHS.get(country)
    const iban = length === undefined ? undefined : packed(text.slice(index), length)
    if (iban !== undefined && isChecked(iban)) return iban
  }
  return null
}
