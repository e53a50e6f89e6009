/**
 * Electronic invoices as UBL 2.1, by the binding of EN 16931 (CEN/TS 16931-3-2).
 */
import type {
  En16931Invoice,
  En16931Line,
  En16931Party,
  En16931Period,
  En16931Rate,
  En16931Tax,
} from "./En16931.ts"
import { type Content, document, element } from "./Xml.ts"

/** BT-24: the norm, without the rules of a country or network. */
export const SPECIFICATION = "urn:cen.eu:en16931:2017"
/** UNCL 1001. */
export const TYPE_CODES = { invoice: "380", credit_note: "381" } as const
/** UN/ECE Recommendation 20: one. */
export const UNIT = "C62"
/** UNCL 5189: a discount. */
export const DISCOUNT = "95"

const cac = (name: string, ...content: ReadonlyArray<Content>) => element(`cac:${name}`, content)
const cbc = (name: string, text: string | null, attributes?: Readonly<Record<string, string>>) =>
  element(`cbc:${name}`, text, attributes)

const schemeOf = (name: string, id: string | null, scheme: string) =>
  id === null ? null : cac(name, cbc("CompanyID", id), cac("TaxScheme", cbc("ID", scheme)))

const partyOf = (party: En16931Party) =>
  cac(
    "Party",
    cac(
      "PostalAddress",
      cbc("StreetName", party.street),
      cbc("AdditionalStreetName", party.addition),
      cbc("CityName", party.city),
      cbc("PostalZone", party.postcode),
      cbc("CountrySubentity", party.region),
      cac("Country", cbc("IdentificationCode", party.country)),
    ),
    schemeOf("PartyTaxScheme", party.vatId, "VAT"),
    schemeOf("PartyTaxScheme", party.taxRegistration, "TAX"),
    cac("PartyLegalEntity", cbc("RegistrationName", party.name), cbc("CompanyID", party.registration)),
  )

const periodOf = (period: En16931Period | null) =>
  period === null ? null : cac("InvoicePeriod", cbc("StartDate", period.start), cbc("EndDate", period.end))

const categoryOf = (
  name: string,
  { category, rate }: En16931Rate,
  reasons: ReadonlyArray<ReturnType<typeof cbc>>,
) => cac(name, cbc("ID", category), cbc("Percent", rate), ...reasons, cac("TaxScheme", cbc("ID", "VAT")))

/** An invoice or credit note as UBL 2.1, in UTF-8. The same invoice always has the same bytes. */
export const ublXml = (invoice: En16931Invoice): string => {
  const isInvoice = invoice.kind === "invoice"
  const root = isInvoice ? "Invoice" : "CreditNote"
  const money = (name: string, amount: string) => cbc(name, amount, { currencyID: invoice.currency })

  const taxOf = (tax: En16931Tax) =>
    cac(
      "TaxSubtotal",
      money("TaxableAmount", tax.taxable),
      money("TaxAmount", tax.amount),
      categoryOf("TaxCategory", tax, [
        cbc("TaxExemptionReasonCode", tax.reasonCode),
        cbc("TaxExemptionReason", tax.reason),
      ]),
    )

  const lineOf = (line: En16931Line) =>
    cac(
      `${root}Line`,
      cbc("ID", line.id),
      cbc(isInvoice ? "InvoicedQuantity" : "CreditedQuantity", line.quantity, { unitCode: UNIT }),
      money("LineExtensionAmount", line.net),
      periodOf(line.period),
      line.allowance === null
        ? null
        : cac(
            "AllowanceCharge",
            cbc("ChargeIndicator", "false"),
            cbc("AllowanceChargeReasonCode", DISCOUNT),
            money("Amount", line.allowance),
          ),
      cac(
        "Item",
        cbc("Description", line.description),
        cbc("Name", line.name),
        categoryOf("ClassifiedTaxCategory", line, []),
      ),
      cac("Price", money("PriceAmount", line.price)),
    )

  const { buyer, preceding, totals } = invoice
  const delivery = deliveryOf(invoice)
  return document(
    element(
      root,
      [
        cbc("CustomizationID", SPECIFICATION),
        cbc("ID", invoice.number),
        cbc("IssueDate", invoice.issueDate),
        isInvoice ? cbc("DueDate", invoice.dueDate) : null,
        cbc(`${root}TypeCode`, TYPE_CODES[invoice.kind]),
        ...invoice.notes.map((note) => cbc("Note", note)),
        cbc("DocumentCurrencyCode", invoice.currency),
        periodOf(invoice.period),
        preceding === null
          ? null
          : cac(
              "BillingReference",
              cac(
                "InvoiceDocumentReference",
                cbc("ID", preceding.number),
                cbc("IssueDate", preceding.issueDate),
              ),
            ),
        cac("AccountingSupplierParty", partyOf(invoice.seller)),
        cac("AccountingCustomerParty", partyOf(buyer)),
        delivery === null
          ? null
          : cac(
              "Delivery",
              cbc("ActualDeliveryDate", delivery.date),
              cac(
                "DeliveryLocation",
                cac("Address", cac("Country", cbc("IdentificationCode", delivery.country))),
              ),
            ),
        cac("PaymentTerms", cbc("Note", invoice.terms)),
        cac("TaxTotal", money("TaxAmount", totals.tax), ...invoice.taxes.map(taxOf)),
        cac(
          "LegalMonetaryTotal",
          money("LineExtensionAmount", totals.net),
          money("TaxExclusiveAmount", totals.net),
          money("TaxInclusiveAmount", totals.gross),
          money("PrepaidAmount", totals.prepaid),
          money("PayableAmount", totals.due),
        ),
        ...invoice.lines.map(lineOf),
      ],
      {
        xmlns: `urn:oasis:names:specification:ubl:schema:xsd:${root}-2`,
        "xmlns:cac": "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2",
        "xmlns:cbc": "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2",
      },
    ),
  )
}

/** Where and when goods of category `K` went (BR-IC-11, BR-IC-12): to the buyer, by the end of the period. */
export const deliveryOf = ({
  buyer,
  issueDate,
  lines,
  period,
}: En16931Invoice): { readonly country: string; readonly date: string } | null =>
  lines.some(({ category }) => category === "K")
    ? { country: buyer.country, date: period?.end ?? issueDate }
    : null
