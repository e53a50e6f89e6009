import { type BillingOptions, ConfigurationError, createBilling } from "billwright"
import { memory } from "billwright/memory"
import { assert, describe, it } from "vitest"

describe("the options of invoices", () => {
  it("are refused with the name of the one that is wrong", async () => {
    const wrong: ReadonlyArray<[object, string]> = [
      [{ numberFormat: "{year}" }, "invoices.numberFormat"],
      [{ netDays: 400 }, "invoices.netDays"],
      [{ timezone: "Mars" }, "invoices.timezone"],
      [{ tax: 19 }, "invoices.tax must be a table of taxes, or an object with the function quote"],
      [{ tax: { quote: 19 } }, "invoices.tax must be a table of taxes, or an object with the function quote"],
      [
        { tax: { behavior: "exclusive", seller: "DE", rates: [{ country: "DE", rate: 19 }] } },
        "invoices.tax.rates[0].rate must be a percentage in a string",
      ],
      [{ vat: 19 }, 'invoices has no option "vat"'],
    ]
    for (const [invoices, message] of wrong) {
      const options = { store: memory(), log: false, invoices } as BillingOptions
      const error = await createBilling(options).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      assert.instanceOf(error, ConfigurationError)
      assert.include(error.message, message)
    }
  })
})
