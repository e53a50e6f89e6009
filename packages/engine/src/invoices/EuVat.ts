/**
 * The standard rates of VAT in the EU, as a value to begin a table of taxes with. Rates change: check yours, and keep
 * the table up to date. Reduced rates depend on what is sold, so they are not here.
 *
 * Source: the European Commission's database of taxes in Europe (TEDB), as compiled by Duty27
 * (https://github.com/duty27/eu-vat, CC BY 4.0), on 2026-10-04. Greece has its ISO code GR here, not EL.
 */
import type { TaxTableRate } from "./TaxTable.ts"

/** The date on which {@link EU_STANDARD_RATES} was true. */
export const EU_STANDARD_RATES_AS_OF = "2026-10-04"

const SINCE_2024 =
  "AT 20 BE 21 BG 20 CY 19 CZ 21 DE 19 DK 25 EE 22 ES 21 FI 24 FR 20 GR 24 HR 25 HU 27 IE 23 IT 22 LT 21 LU 17 LV 21 " +
  "MT 18 NL 21 PL 23 PT 23 RO 19 SE 25 SI 22 SK 20"

/** Changes since 2024-01-01. */
const CHANGES: ReadonlyArray<TaxTableRate> = [
  { country: "FI", rate: "25.5", from: "2024-09-01" },
  { country: "SK", rate: "23", from: "2025-01-01" },
  { country: "EE", rate: "24", from: "2025-07-01" },
  { country: "RO", rate: "21", from: "2025-08-01" },
]

/** The standard rates of the 27 countries since 2024-01-01, with later changes at their dates. */
export const EU_STANDARD_RATES: ReadonlyArray<TaxTableRate> = [
  ...Array.from(SINCE_2024.matchAll(/([A-Z]{2}) ([0-9.]+)/g), ([, country = "", rate = ""]) => ({
    country,
    rate,
    from: "2024-01-01",
  })),
  ...CHANGES,
]

/** The 27 countries of the EU. */
export const EU_COUNTRIES: ReadonlyArray<string> = [
  ...new Set(EU_STANDARD_RATES.map(({ country }) => country)),
]
