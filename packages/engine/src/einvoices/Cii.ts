/**
 * An e-invoice as a Cross Industry Invoice (UN/CEFACT, D16B), by CEN/TS 16931-3-3. It is also the XML of Factur-X and ZUGFeRD
 * in the profile EN 16931.
 */
import {
  EN16931_SPECIFICATION,
  type En16931Invoice,
  type EnLine,
  type EnParty,
  type EnPeriod,
} from "./Model.ts"
import { el, type Element, required, xml } from "./Xml.ts"

const NAMESPACE = "urn:un:unece:uncefact:data:standard:"

/** Dates as CCYYMMDD (UNTDID 2379). */
const DATE_FORMAT = { format: "102" }

const ram = (
  name: string,
  content: string | null | ReadonlyArray<Element | null>,
  attributes?: Readonly<Record<string, string>>,
) => el(`ram:${name}`, content, attributes)

const date = (name: string, day: string | null, prefix = "udt") =>
  ram(name, day === null ? null : [el(`${prefix}:DateTimeString`, day.replaceAll("-", ""), DATE_FORMAT)])

const periodOf = (period: EnPeriod | null) =>
  ram("BillingSpecifiedPeriod", [
    date("StartDateTime", period?.start ?? null),
    date("EndDateTime", period?.end ?? null),
  ])

const registrationOf = (id: string | null, schemeID: string) =>
  ram("SpecifiedTaxRegistration", [ram("ID", id, { schemeID })])

const partyOf = (name: string, party: EnParty) =>
  ram(name, [
    ram("ID", party.identifier),
    ram("Name", party.name),
    ram("SpecifiedLegalOrganization", [ram("ID", party.registration)]),
    ram("PostalTradeAddress", [
      ram("PostcodeCode", party.address.postcode),
      ram("LineOne", party.address.line1),
      ram("LineTwo", party.address.line2),
      ram("CityName", party.address.city),
      ram("CountryID", party.address.country),
      ram("CountrySubDivisionName", party.address.region),
    ]),
    registrationOf(party.vatId, "VA"),
    registrationOf(party.taxRegistration, "FC"),
  ])

const lineOf = (line: EnLine) =>
  ram("IncludedSupplyChainTradeLineItem", [
    ram("AssociatedDocumentLineDocument", [ram("LineID", line.id)]),
    ram("SpecifiedTradeProduct", [ram("SellerAssignedID", line.sellerItemId), ram("Name", line.name)]),
    ram("SpecifiedLineTradeAgreement", [
      ram("NetPriceProductTradePrice", [
        ram("ChargeAmount", line.price),
        ram("BasisQuantity", line.baseQuantity, { unitCode: "C62" }),
      ]),
    ]),
    ram("SpecifiedLineTradeDelivery", [ram("BilledQuantity", line.quantity, { unitCode: "C62" })]),
    ram("SpecifiedLineTradeSettlement", [
      ram("ApplicableTradeTax", [
        ram("TypeCode", "VAT"),
        ram("CategoryCode", line.tax.category),
        ram("RateApplicablePercent", line.tax.rate),
      ]),
      periodOf(line.period),
      ...line.allowances.map(({ amount, reason }) =>
        ram("SpecifiedTradeAllowanceCharge", [
          ram("ChargeIndicator", [el("udt:Indicator", "false")]),
          ram("ActualAmount", amount),
          ram("Reason", reason),
        ]),
      ),
      ram("SpecifiedTradeSettlementLineMonetarySummation", [ram("LineTotalAmount", line.net)]),
    ]),
  ])

const settlementOf = (document: En16931Invoice) => {
  const { currency, dueDate, payment, preceding, taxes, terms, totals } = document
  return ram("ApplicableHeaderTradeSettlement", [
    ram("PaymentReference", payment?.reference ?? null),
    ram("InvoiceCurrencyCode", currency),
    payment === null
      ? null
      : ram("SpecifiedTradeSettlementPaymentMeans", [
          ram("TypeCode", payment.code),
          ram("Information", payment.text),
          ram("PayeePartyCreditorFinancialAccount", [ram("IBANID", payment.iban)]),
          ram("PayeeSpecifiedCreditorFinancialInstitution", [ram("BICID", payment.bic)]),
        ]),
    ...taxes.map((tax) =>
      ram("ApplicableTradeTax", [
        ram("CalculatedAmount", tax.amount),
        ram("TypeCode", "VAT"),
        ram("ExemptionReason", tax.reason),
        ram("BasisAmount", tax.taxable),
        ram("CategoryCode", tax.category),
        ram("ExemptionReasonCode", tax.reasonCode),
        ram("RateApplicablePercent", tax.rate),
      ]),
    ),
    periodOf(document.period),
    ram("SpecifiedTradePaymentTerms", [ram("Description", terms), date("DueDateDateTime", dueDate)]),
    ram("SpecifiedTradeSettlementHeaderMonetarySummation", [
      ram("LineTotalAmount", totals.lines),
      ram("TaxBasisTotalAmount", totals.net),
      ram("TaxTotalAmount", totals.tax, { currencyID: currency }),
      ram("GrandTotalAmount", totals.gross),
      ram("TotalPrepaidAmount", totals.paid),
      ram("DuePayableAmount", totals.due),
    ]),
    ram("InvoiceReferencedDocument", [
      ram("IssuerAssignedID", preceding?.number ?? null),
      date("FormattedIssueDateTime", preceding?.issueDate ?? null, "qdt"),
    ]),
  ])
}

/** CII of an e-invoice. The same e-invoice always has the same bytes. */
export const ciiXml = (document: En16931Invoice): string =>
  xml(
    el(
      "rsm:CrossIndustryInvoice",
      [
        el("rsm:ExchangedDocumentContext", [
          ram("GuidelineSpecifiedDocumentContextParameter", [ram("ID", EN16931_SPECIFICATION)]),
        ]),
        el("rsm:ExchangedDocument", [
          ram("ID", document.number),
          ram("TypeCode", document.typeCode),
          date("IssueDateTime", document.issueDate),
          ...document.notes.map((note) => ram("IncludedNote", [ram("Content", note)])),
        ]),
        el("rsm:SupplyChainTradeTransaction", [
          ...document.lines.map(lineOf),
          ram("ApplicableHeaderTradeAgreement", [
            partyOf("SellerTradeParty", document.seller),
            partyOf("BuyerTradeParty", document.buyer),
          ]),
          required("ram:ApplicableHeaderTradeDelivery", [
            ram("ShipToTradeParty", [
              ram("PostalTradeAddress", [ram("CountryID", document.deliveryCountry)]),
            ]),
          ]),
          settlementOf(document),
        ]),
      ],
      {
        "xmlns:rsm": `${NAMESPACE}CrossIndustryInvoice:100`,
        "xmlns:qdt": `${NAMESPACE}QualifiedDataType:100`,
        "xmlns:ram": `${NAMESPACE}ReusableAggregateBusinessInformationEntity:100`,
        "xmlns:udt": `${NAMESPACE}UnqualifiedDataType:100`,
      },
    ),
  )
