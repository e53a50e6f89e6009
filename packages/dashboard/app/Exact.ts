/**
 * Exact quantities as texts: decimals such as `1234.5`, or fractions such as `10/3`.
 */

const grouped = new Intl.NumberFormat("en-GB")

/** Digits in groups of three. Digits after the point and the parts of a fraction stay as they are. */
export const format = (text: string): string => {
  const [, sign = "", whole = "", rest = ""] = /^(-?)(\d+)(.*)$/s.exec(text) ?? []
  return whole === "" ? text : `${sign}${grouped.format(BigInt(whole))}${rest}`
}
