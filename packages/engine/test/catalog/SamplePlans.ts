/** A plan that is accepted, and what may be wrong with one. */

/** A plan with one of everything, as the documentation shows it. */
export const pro = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  trial: { days: 14 },
  charges: [
    { key: "base", model: "flat", timing: "advance", price: { EUR: "20.00" } },
    { key: "seats", model: "unit", timing: "advance", quantity: "seats", price: { EUR: "5.00" } },
    {
      key: "calls",
      model: "graduated",
      meter: "api_calls",
      free: "100",
      minimum: { EUR: "10.00" },
      tiers: [
        { up_to: "1000", price: { EUR: "0.01" }, flat: { EUR: "2.00" } },
        { up_to: "5000", price: { EUR: "0.005" } },
        { price: { EUR: "0.002" } },
      ],
    },
    {
      key: "storage",
      model: "package",
      meter: "stored",
      size: "1000",
      price: { EUR: "0.10" },
      convert: { divide_by: "1000", round: "up" },
      where: { region: ["eu"] },
      by: "project",
    },
    {
      key: "fees",
      model: "percentage",
      meter: "volume",
      rate: "2.9",
      flat: { EUR: "0.30" },
      minimum_per_record: { EUR: "0.50" },
      maximum_per_record: { EUR: "5.00" },
    },
    {
      key: "boxes",
      model: "graduated_package",
      meter: "boxes",
      tiers: [
        { up_to: "10", size: "5", price: { EUR: "1" } },
        { size: "50", price: { EUR: "5" } },
      ],
    },
    {
      key: "share",
      model: "graduated_percentage",
      meter: "volume",
      tiers: [
        { up_to: "100000", rate: "1" },
        { rate: "0.5", flat: { EUR: "3" } },
      ],
    },
  ],
  features: {
    sso: { type: "boolean" },
    seats: { type: "config", value: "10" },
    exports: {
      type: "metered",
      meter: "exports",
      included: "50",
      limit: "hard",
      rollover: { maximum: "100" },
    },
  },
  grants: [
    {
      unit: "credits",
      amount: "1000",
      rollover: { maximum: "2000", expires_after: { unit: "month", count: 1 } },
    },
  ],
  minimum: { EUR: "5.00" },
  policy: { proration: "day", usage_on_change: "continue", grace_hours: 1, past_due_grace_days: 7 },
}

export type Path = ReadonlyArray<string | number>

/** The plan with another value at a path, or without it. */
export const withAt = (value: unknown, [step, ...rest]: Path, replacement: unknown): unknown => {
  if (step === undefined) return replacement
  if (Array.isArray(value)) {
    return value.map((one, index) => (index === step ? withAt(one, rest, replacement) : one))
  }
  const fields = { ...(value as Record<string, unknown>) }
  const next = withAt(fields[step], rest, replacement)
  if (next === undefined) delete fields[step]
  else fields[step] = next
  return fields
}

export const KEY = "must be a lower-case letter, then at most 63 lower-case letters, digits and underscores"
const DECIMAL = "must be a decimal in a string, at most 18 digits before and 12 after the point"

/** One thing wrong at a time: where, with what, and what is said. */
export const wrong: ReadonlyArray<readonly [Path, unknown, string]> = [
  [["key"], "Pro", `key ${KEY}`],
  [["key"], undefined, `key ${KEY}`],
  [["name"], undefined, "name is required"],
  [["name"], " ", "name must be a text of 1 to 200 characters"],
  [["name"], "a\u0000b", "name must not have control characters"],
  [["description"], "x".repeat(1001), "description must be a text of 1 to 1000 characters"],
  [
    ["charges", 0, "model"],
    "toString",
    `charges.base.model must be one of flat, unit, package, graduated, volume, graduated_package, percentage, graduated_percentage`,
  ],
  [
    ["charges", 3, "convert", "round"],
    ["up"],
    "charges.storage.convert.round must be one of up, down, half_up, none",
  ],
  [["features", "exports", "limit"], ["hard"], "features.exports.limit must be one of hard, soft"],
  [
    ["prices"],
    [],
    "prices is not a known field here (known: key, name, description, currencies, interval, trial, charges, features, grants, minimum, policy)",
  ],
  [["currencies"], [], "currencies must be a list of 1 to 30 currencies"],
  [["currencies", 0], "eur", `currencies[0] must be a code of ISO 4217, such as "EUR"`],
  [["interval"], undefined, "interval is required"],
  [["interval", "unit"], "fortnight", "interval.unit must be one of day, week, month, year"],
  [["interval", "count"], 37, "interval.count must be an integer from 1 to 36"],
  [["interval", "count"], 1.5, "interval.count must be an integer from 1 to 36"],
  [["trial", "days"], 0, "trial.days must be an integer from 1 to 730"],
  [["trial"], 14, `trial must be an object, such as {"days": 14}`],
  [["charges"], undefined, "charges is required"],
  [["charges", 0], null, "charges[0] must be an object"],
  [
    ["charges", 0, "model"],
    "tiered",
    "charges.base.model must be one of flat, unit, package, graduated, volume, graduated_package, percentage, graduated_percentage",
  ],
  [["charges", 0, "model"], undefined, "charges.base.model is required"],
  [["charges", 0, "price", "EUR"], 20, `charges.base.price.EUR must be a string, such as "20"`],
  [["charges", 0, "price", "EUR"], "-1", "charges.base.price.EUR must be 0 or more"],
  [["charges", 0, "price", "EUR"], "1e3", `charges.base.price.EUR ${DECIMAL}`],
  [["charges", 0, "price", "USD"], "1", "charges.base.price.USD is not a currency of the plan"],
  [["charges", 0, "price"], {}, "charges.base.price has no price in EUR"],
  [["charges", 0, "price"], undefined, "charges.base.price is required"],
  [
    ["charges", 0, "price"],
    "20",
    `charges.base.price must give a price for each currency, such as {"EUR": "0.01"}`,
  ],
  [
    ["charges", 0, "free"],
    "1",
    "charges.base.free is not a known field here (known: key, name, model, timing, minimum, maximum, price)",
  ],
  [["charges", 0, "timing"], "later", "charges.base.timing must be one of advance, arrears"],
  [["charges", 1, "key"], "base", `charges[1].key is used twice: "base"`],
  [
    ["charges", 1, "quantity"],
    undefined,
    "charges.seats.meter is required (or quantity): a charge needs one of them",
  ],
  [
    ["charges", 2, "quantity"],
    "calls",
    "charges.calls.quantity must be left out: a charge has either a meter or a quantity",
  ],
  [["charges", 1, "by"], "project", "charges.seats.by needs a meter: it uses the dimensions of a meter"],
  [["charges", 1, "name"], "", "charges.seats.name must be a text of 1 to 200 characters"],
  [
    ["charges", 2, "timing"],
    "advance",
    "charges.calls.timing must be arrears: usage is known after its period",
  ],
  [["charges", 2, "free"], "-1", "charges.calls.free must be 0 or more"],
  [["charges", 2, "tiers"], [], "charges.calls.tiers must be a list of 1 to 100 tiers"],
  [["charges", 2, "tiers", 1, "up_to"], "1000", "charges.calls.tiers[1].up_to must be greater than 1000"],
  [
    ["charges", 2, "tiers", 1, "up_to"],
    undefined,
    "charges.calls.tiers[1].up_to is required: only the last tier has no end",
  ],
  [
    ["charges", 2, "tiers", 2, "up_to"],
    "9000",
    "charges.calls.tiers[2].up_to must be left out: the last tier has no end",
  ],
  [["charges", 2, "tiers", 0, "up_to"], "0", "charges.calls.tiers[0].up_to must be greater than 0"],
  [
    ["charges", 2, "tiers", 0, "size"],
    "5",
    "charges.calls.tiers[0].size is not a known field here (known: up_to, price, flat)",
  ],
  [["charges", 2, "tiers", 0], 5, "charges.calls.tiers[0] must be an object"],
  [
    ["charges", 2, "maximum"],
    { EUR: "9.99" },
    "charges.calls.minimum.EUR must not be greater than maximum, 9.99",
  ],
  [["charges", 3, "size"], "0", "charges.storage.size must be greater than 0"],
  [["charges", 3, "convert", "divide_by"], "0", "charges.storage.convert.divide_by must be greater than 0"],
  [
    ["charges", 3, "convert", "round"],
    "nearest",
    "charges.storage.convert.round must be one of up, down, half_up, none",
  ],
  [
    ["charges", 3, "where"],
    Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, ["x"]])),
    "charges.storage.where must have at most 4 dimensions",
  ],
  [["charges", 3, "where", "region"], [], "charges.storage.where.region must be a list of 1 to 100 values"],
  [["charges", 3, "where", "region"], ["eu", "eu"], `charges.storage.where.region[1] is listed twice: "eu"`],
  [
    ["charges", 3, "where", "region", 0],
    "",
    "charges.storage.where.region[0] must be a text of 1 to 100 characters",
  ],
  [["charges", 3, "by"], "", "charges.storage.by must be the key of a dimension, 1 to 40 characters"],
  [["charges", 4, "rate"], undefined, "charges.fees.rate is required"],
  [
    ["charges", 4, "maximum_per_record", "EUR"],
    "0.4",
    "charges.fees.minimum_per_record.EUR must not be greater than maximum_per_record, 0.4",
  ],
  [["charges", 5, "tiers", 1, "size"], undefined, "charges.boxes.tiers[1].size is required"],
  [["charges", 6, "tiers", 0, "rate"], 1, `charges.share.tiers[0].rate must be a string, such as "1"`],
  [["features", "sso", "type"], "flag", "features.sso.type must be one of boolean, config, metered"],
  [["features", "a b"], { type: "boolean" }, `features["a b"] ${KEY}`],
  [["features", "seats", "value"], 10, "features.seats.value must be a text of 1 to 500 characters"],
  [["features", "exports", "limit"], "firm", "features.exports.limit must be one of hard, soft"],
  [["features", "exports", "meter"], undefined, `features.exports.meter ${KEY}`],
  [["grants", 0, "amount"], "0", "grants[0].amount must be greater than 0"],
  [["grants", 0, "unit"], "USD", "grants[0].unit is not a currency of the plan"],
  [
    ["grants", 0, "rollover", "expires_after", "count"],
    0,
    "grants[0].rollover.expires_after.count must be an integer from 1 to 36",
  ],
  [["minimum", "EUR"], "x", `minimum.EUR ${DECIMAL}`],
  [["policy", "proration"], "hour", "policy.proration must be one of day, time, none"],
  [["policy", "grace_hours"], -1, "policy.grace_hours must be an integer from 0 to 720"],
  [["policy", "past_due_grace_days"], 366, "policy.past_due_grace_days must be an integer from 0 to 365"],
]
