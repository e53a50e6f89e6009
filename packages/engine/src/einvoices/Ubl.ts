/**
 * An e-invoice as UBL 2.1 (OASIS), by CEN/TS 16931-3-2.
 */
import {
  EN16931_SPECIFICATION,
  type En16931Invoice,
  type EnLine,
  type EnParty,
  type EnPeriod,
} from "./Model.ts"
import { el, type Element, xml } from "./Xml.ts"

const NAMESPACE = "urn:oasis:names:specification:ubl:schema:xsd:"

const cbc = (name: string, text: string | null, attributes?: Readonly<Record<string, string>>) =>
  el(`cbc:${name}`, text, attributes)
const cac = (name: string, children: ReadonlyArray<Element | null>) => el(`cac:${name}`, children)

const scheme = (id: string) => cac("TaxScheme", [cbc("ID", id)])

const periodOf = (period: EnPeriod | null) =>
  cac("InvoicePeriod", [cbc("StartDate", period?.start ?? null), cbc("EndDate", period?.end ?? null)])

const countryOf = (country: string | null) => cac("Country", [cbc("IdentificationCode", country)])

const taxIdOf = (id: string | null, of: string) =>
  id === null ? null : cac("PartyTaxScheme", [cbc("CompanyID", id), scheme(of)])

const partyOf = ({ address, identifier, name, registration, taxRegistration, vatId }: EnParty) =>
  cac("Party", [
    cac("PartyIdentification", [cbc("ID", identifier)]),
    cac("PostalAddress", [
      cbc("StreetName", address.line1),
      cbc("AdditionalStreetName", address.line2),
      cbc("CityName", address.city),
      cbc("PostalZone", address.postcode),
      cbc("CountrySubentity", address.region),
      countryOf(address.country),
    ]),
    taxIdOf(vatId, "VAT"),
    taxIdOf(taxRegistration, "TAX"),
    cac("PartyLegalEntity", [cbc("RegistrationName", name), cbc("CompanyID", registration)]),
  ])

const paymentOf = ({ payment }: En16931Invoice) =>
  payment === null
    ? null
    : cac("PaymentMeans", [
        cbc("PaymentMeansCode", payment.code, { name: payment.text }),
        cbc("PaymentID", payment.reference),
        cac("PayeeFinancialAccount", [
          cbc("ID", payment.iban),
          cac("FinancialInstitutionBranch", [cbc("ID", payment.bic)]),
        ]),
      ])

/** UBL of an e-invoice: an `Invoice`, or a `CreditNote` of type 381. The same e-invoice always has the same bytes. */
export const ublXml = (document: En16931Invoice): string => {
  const { currency, lines, preceding, taxes, totals, typeCode } = document
  const root = typeCode === "381" ? "CreditNote" : "Invoice"
  const money = (name: string, amount: string) => cbc(name, amount, { currencyID: currency })
  const lineOf = (line: EnLine) =>
    cac(`${root}Line`, [
      cbc("ID", line.id),
      cbc(root === "Invoice" ? "InvoicedQuantity" : "CreditedQuantity", line.quantity, { unitCode: "C62" }),
      money("LineExtensionAmount", line.net),
      periodOf(line.period),
      ...line.allowances.map(({ amount, reason }) =>
        cac("AllowanceCharge", [
          cbc("ChargeIndicator", "false"),
          cbc("AllowanceChargeReason", reason),
          money("Amount", amount),
        ]),
      ),
      cac("Item", [
        cbc("Name", line.name),
        cac("SellersItemIdentification", [cbc("ID", line.sellerItemId)]),
        cac("ClassifiedTaxCategory", [
          cbc("ID", line.tax.category),
          cbc("Percent", line.tax.rate),
          scheme("VAT"),
        ]),
      ]),
      cac("Price", [
        money("PriceAmount", line.price),
        cbc("BaseQuantity", line.baseQuantity, { unitCode: "C62" }),
      ]),
    ])
  return xml(
    el(
      root,
      [
        cbc("CustomizationID", EN16931_SPECIFICATION),
        cbc("ID", document.number),
        cbc("IssueDate", document.issueDate),
        root === "Invoice" ? cbc("DueDate", document.dueDate) : null,
        cbc(`${root}TypeCode`, typeCode),
        ...document.notes.map((note) => cbc("Note", note)),
        cbc("DocumentCurrencyCode", currency),
        periodOf(document.period),
        cac("BillingReference", [
          cac("InvoiceDocumentReference", [
            cbc("ID", preceding?.number ?? null),
            cbc("IssueDate", preceding?.issueDate ?? null),
          ]),
        ]),
        cac("AccountingSupplierParty", [partyOf(document.seller)]),
        cac("AccountingCustomerParty", [partyOf(document.buyer)]),
        cac("Delivery", [cac("DeliveryLocation", [cac("Address", [countryOf(document.deliveryCountry)])])]),
        paymentOf(document),
        cac("PaymentTerms", [cbc("Note", document.terms)]),
        cac("TaxTotal", [
          money("TaxAmount", totals.tax),
          ...taxes.map((tax) =>
            cac("TaxSubtotal", [
              money("TaxableAmount", tax.taxable),
              money("TaxAmount", tax.amount),
              cac("TaxCategory", [
                cbc("ID", tax.category),
                cbc("Percent", tax.rate),
                cbc("TaxExemptionReasonCode", tax.reasonCode),
                cbc("TaxExemptionReason", tax.reason),
                scheme("VAT"),
              ]),
            ]),
          ),
        ]),
        cac("LegalMonetaryTotal", [
          money("LineExtensionAmount", totals.lines),
          money("TaxExclusiveAmount", totals.net),
          money("TaxInclusiveAmount", totals.gross),
          money("PrepaidAmount", totals.paid),
          money("PayableAmount", totals.due),
        ]),
        ...lines.map(lineOf),
      ],
      {
        xmlns: `${NAMESPACE}${root}-2`,
        "xmlns:cac": `${NAMESPACE}CommonAggregateComponents-2`,
        "xmlns:cbc": `${NAMESPACE}CommonBasicComponents-2`,
      },
    ),
  )
}
