/**
 * PDF of documents, by the optional package `@billwright/pdf`.
 */
import { type MakePdf, PdfUnavailable } from "@billwright/core"
import type * as Package from "@billwright/pdf"

// A variable, so that bundlers of hosts without the package have nothing to look for.
const NAME: string = "@billwright/pdf"

const load = async (): Promise<typeof Package> => {
  try {
    return (await import(NAME)) as typeof Package
  } catch {
    throw new PdfUnavailable()
  }
}

/** Loads the package with the first PDF. */
export const makePdf: MakePdf = async (document, facturX) => (await load()).documentPdf(document, facturX)
