/**
 * What a PDF says of itself, in XMP; and the XML of an e-invoice within it, as Factur-X wants it.
 */
/** What a document says of itself. */
export interface SheetInfo {
  readonly title: string
  readonly author: string | null
  readonly language: string
  readonly paper: "A4" | "LETTER"
  /** In epoch milliseconds. */
  readonly createdAt: number
  /** The XML of an e-invoice, which makes the document one of Factur-X. */
  readonly facturX?: string | undefined
}

const PRODUCER = "Billwright"

/** The name that Factur-X and ZUGFeRD give to the XML. */
const FILE_NAME = "factur-x.xml"
const FACTUR_X = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

/** Text of XML, without what XML does not have. */
const escape = (text: string): string =>
  text.replaceAll(/\p{Cc}|\p{Cs}/gu, "\ufffd").replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!)

const description = (namespaces: string, content: string): string =>
  `<rdf:Description rdf:about="" ${namespaces}>${content}</rdf:Description>`

const properties = [
  ["DocumentFileName", "The name of the embedded XML document"],
  ["DocumentType", "The type of the hybrid document in capital letters, e.g. INVOICE or ORDER"],
  ["Version", "The actual version of the standard applying to the embedded XML document"],
  ["ConformanceLevel", "The conformance level of the embedded XML document"],
] as const

/** The schema of Factur-X, which PDF/A wants described where it is used. */
const EXTENSION = description(
  'xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#"',
  `<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource"><pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema><pdfaSchema:namespaceURI>${FACTUR_X}</pdfaSchema:namespaceURI><pdfaSchema:prefix>fx</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>${properties
    .map(
      ([name, text]) =>
        `<rdf:li rdf:parseType="Resource"><pdfaProperty:name>${name}</pdfaProperty:name><pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category><pdfaProperty:description>${text}</pdfaProperty:description></rdf:li>`,
    )
    .join("")}</rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas>`,
)

const FACTUR_X_FIELDS = description(
  `xmlns:fx="${FACTUR_X}"`,
  `<fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>${FILE_NAME}</fx:DocumentFileName><fx:Version>1.0</fx:Version><fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>`,
)

/** The metadata of a document. */
export const xmpOf = ({ author, createdAt, facturX, title }: SheetInfo): string =>
  [
    description(
      'xmlns:xmp="http://ns.adobe.com/xap/1.0/"',
      `<xmp:CreateDate>${new Date(createdAt).toISOString().replace(/\.\d+/, "")}</xmp:CreateDate><xmp:CreatorTool>${PRODUCER}</xmp:CreatorTool>`,
    ),
    description(
      'xmlns:dc="http://purl.org/dc/elements/1.1/"',
      `<dc:title><rdf:Alt><rdf:li xml:lang="x-default">${escape(title)}</rdf:li></rdf:Alt></dc:title>${
        author === null
          ? ""
          : `<dc:creator><rdf:Seq><rdf:li>${escape(author)}</rdf:li></rdf:Seq></dc:creator>`
      }`,
    ),
    description('xmlns:pdf="http://ns.adobe.com/pdf/1.3/"', `<pdf:Producer>${PRODUCER}</pdf:Producer>`),
    ...(facturX === undefined ? [] : [EXTENSION, FACTUR_X_FIELDS]),
  ].join("\n")

/** Attaches the XML of an e-invoice: it says the same as the pages. */
export const attach = (doc: PDFKit.PDFDocument, xml: string, date: Date): void => {
  // The types know the options of an annotation only.
  const file = {
    name: FILE_NAME,
    type: "text/xml",
    relationship: "Alternative",
    description: "Factur-X invoice",
  }
  doc.file(Buffer.from(xml), { ...file, creationDate: date, modifiedDate: date } as never)
}
