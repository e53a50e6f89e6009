/**
 * Electronic invoices by EN 16931, as UBL and as Cross Industry Invoice.
 */
export { ciiXml } from "./Cii.ts"
export type {
  En16931Invoice,
  En16931Line,
  En16931Party,
  En16931Period,
  En16931Problem,
  En16931Rate,
  En16931Tax,
  En16931Totals,
} from "./En16931.ts"
export { creditNoteToEn16931, type En16931Result, toEn16931 } from "./ToEn16931.ts"
export { ublXml } from "./Ubl.ts"
