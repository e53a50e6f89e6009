/**
 * Electronic invoices as Cross Industry Invoice (UN/CEFACT D16B), by the binding of EN 16931 (CEN/TS 16931-3-3). It is also
 * what Factur-X and ZUGFeRD have in their PDF, with the profile EN 16931.
 */
import type { En16931Invoice, En16931Line, En16931Party, En16931Period, En16931Tax } from "./En16931.ts"
import { deliveryOf, DISCOUNT, SPECIFICATION, TYPE_CODES, UNIT } from "./Ubl.ts"
import { type Content, document, element } from "./Xml.ts"

const ram = (name: string, ...content: ReadonlyArray<Content>) => element(`ram:${name}`, content)
const text = (name: string, value: string | null, attributes?: Readonly<Record<string, string>>) =>
  element(`ram:${name}`, value, attributes)

/** A date as `20261126`. */
const dateOf = (name: string, date: string | null, prefix = "udt") =>
  date === null
    ? null
    : element(`ram:${name}`, element(`${prefix}:DateTimeString`, date.replaceAll("-", ""), { format: "102" }))

const registrationOf = (id: string | null, schemeID: string) =>
  id === null ? null : ram("SpecifiedTaxRegistration", text("ID", id, { schemeID }))

const partyOf = (name: string, party: En16931Party) =>
  ram(
    name,
    text("Name", party.name),
    ram("SpecifiedLegalOrganization", text("ID", party.registration)),
    ram(
      "PostalTradeAddress",
      text("PostcodeCode", party.postcode),
      text("LineOne", party.street),
      text("LineTwo", party.addition),
      text("CityName", party.city),
      text("CountryID", party.country),
      text("CountrySubDivisionName", party.region),
    ),
    registrationOf(party.vatId, "VA"),
    registrationOf(party.taxRegistration, "FC"),
  )

const periodOf = (period: En16931Period | null) =>
  period === null
    ? null
    : ram("BillingSpecifiedPeriod", dateOf("StartDateTime", period.start), dateOf("EndDateTime", period.end))

const lineOf = (line: En16931Line) =>
  ram(
    "IncludedSupplyChainTradeLineItem",
    ram("AssociatedDocumentLineDocument", text("LineID", line.id)),
    ram("SpecifiedTradeProduct", text("Name", line.name), text("Description", line.description)),
    ram("SpecifiedLineTradeAgreement", ram("NetPriceProductTradePrice", text("ChargeAmount", line.price))),
    ram("SpecifiedLineTradeDelivery", text("BilledQuantity", line.quantity, { unitCode: UNIT })),
    ram(
      "SpecifiedLineTradeSettlement",
      ram(
        "ApplicableTradeTax",
        text("TypeCode", "VAT"),
        text("CategoryCode", line.category),
        text("RateApplicablePercent", line.rate),
      ),
      periodOf(line.period),
      line.allowance === null
        ? null
        : ram(
            "SpecifiedTradeAllowanceCharge",
            ram("ChargeIndicator", element("udt:Indicator", "false")),
            text("ActualAmount", line.allowance),
            text("ReasonCode", DISCOUNT),
          ),
      ram("SpecifiedTradeSettlementLineMonetarySummation", text("LineTotalAmount", line.net)),
    ),
  )

const taxOf = (tax: En16931Tax) =>
  ram(
    "ApplicableTradeTax",
    text("CalculatedAmount", tax.amount),
    text("TypeCode", "VAT"),
    text("ExemptionReason", tax.reason),
    text("BasisAmount", tax.taxable),
    text("CategoryCode", tax.category),
    text("ExemptionReasonCode", tax.reasonCode),
    text("RateApplicablePercent", tax.rate),
  )

const deliveredOf = (invoice: En16931Invoice) => {
  const delivery = deliveryOf(invoice)
  // The group has to be there, also when nothing is in it.
  if (delivery === null) return element("ram:ApplicableHeaderTradeDelivery", " ")
  return ram(
    "ApplicableHeaderTradeDelivery",
    ram("ShipToTradeParty", ram("PostalTradeAddress", text("CountryID", delivery.country))),
    ram("ActualDeliverySupplyChainEvent", dateOf("OccurrenceDateTime", delivery.date)),
  )
}

const settlementOf = ({ currency, dueDate, period, preceding, taxes, terms, totals }: En16931Invoice) =>
  ram(
    "ApplicableHeaderTradeSettlement",
    text("InvoiceCurrencyCode", currency),
    ...taxes.map(taxOf),
    periodOf(period),
    ram("SpecifiedTradePaymentTerms", text("Description", terms), dateOf("DueDateDateTime", dueDate)),
    ram(
      "SpecifiedTradeSettlementHeaderMonetarySummation",
      text("LineTotalAmount", totals.net),
      text("TaxBasisTotalAmount", totals.net),
      text("TaxTotalAmount", totals.tax, { currencyID: currency }),
      text("GrandTotalAmount", totals.gross),
      text("TotalPrepaidAmount", totals.prepaid),
      text("DuePayableAmount", totals.due),
    ),
    preceding === null
      ? null
      : ram(
          "InvoiceReferencedDocument",
          text("IssuerAssignedID", preceding.number),
          dateOf("FormattedIssueDateTime", preceding.issueDate, "qdt"),
        ),
  )

/** An invoice or credit note as Cross Industry Invoice, in UTF-8. The same invoice always has the same bytes. */
export const ciiXml = (invoice: En16931Invoice): string =>
  document(
    element(
      "rsm:CrossIndustryInvoice",
      [
        element("rsm:ExchangedDocumentContext", [
          ram("GuidelineSpecifiedDocumentContextParameter", text("ID", SPECIFICATION)),
        ]),
        element("rsm:ExchangedDocument", [
          text("ID", invoice.number),
          text("TypeCode", TYPE_CODES[invoice.kind]),
          dateOf("IssueDateTime", invoice.issueDate),
          ...invoice.notes.map((note) => ram("IncludedNote", text("Content", note))),
        ]),
        element("rsm:SupplyChainTradeTransaction", [
          ...invoice.lines.map(lineOf),
          ram(
            "ApplicableHeaderTradeAgreement",
            partyOf("SellerTradeParty", invoice.seller),
            partyOf("BuyerTradeParty", invoice.buyer),
          ),
          deliveredOf(invoice),
          settlementOf(invoice),
        ]),
      ],
      {
        "xmlns:rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
        "xmlns:ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
        "xmlns:qdt": "urn:un:unece:uncefact:data:standard:QualifiedDataType:100",
        "xmlns:udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
      },
    ),
  )
