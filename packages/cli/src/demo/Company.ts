/**
 * A company that does not exist: what it sells, and who its customers are. It is plain data, always the same.
 */
import type { PlanDefinition } from "@billwright/engine"

/** The seller of the demo: a German company that sells maps, and answers about places, to developers. */
export const SELLER_COUNTRY = "DE"
export const TIMEZONE = "Europe/Berlin"

export const METERS = [
  { key: "requests", name: "Requests", productId: "maps", unit: "request" },
  { key: "tokens", name: "Tokens of answers", productId: "assistant", unit: "token" },
] as const

/** Every charge for requests has the same tiers, but for the number that is free. */
const requests = (free: string) => ({
  key: "requests",
  name: "Requests",
  model: "graduated" as const,
  meter: "requests",
  free,
  tiers: [
    { up_to: "100000", price: { EUR: "0.0006", USD: "0.00065" } },
    { up_to: "1000000", price: { EUR: "0.0004", USD: "0.00043" } },
    { price: { EUR: "0.0002", USD: "0.00022" } },
  ],
})

const tokens = (price: { readonly EUR: string; readonly USD: string }) => ({
  key: "tokens",
  name: "Tokens of answers, in millions",
  model: "unit" as const,
  meter: "tokens",
  convert: { divide_by: "1000000" },
  price,
})

const base = (price: { readonly EUR: string; readonly USD: string }) => ({
  key: "base",
  name: "Base fee",
  model: "flat" as const,
  timing: "advance" as const,
  price,
})

const month = { unit: "month", count: 1 } as const

export const PLANS: ReadonlyArray<PlanDefinition> = [
  {
    key: "starter",
    name: "Starter",
    description: "For a first app.",
    currencies: ["EUR", "USD"],
    interval: month,
    trial: { days: 14 },
    charges: [base({ EUR: "29.00", USD: "32.00" }), requests("10000")],
    features: {
      requests: { type: "metered", meter: "requests", included: "10000", limit: "soft" },
      support: { type: "config", value: "community" },
    },
  },
  {
    key: "team",
    name: "Team",
    description: "For a product with customers of its own.",
    currencies: ["EUR", "USD"],
    interval: month,
    charges: [
      base({ EUR: "99.00", USD: "109.00" }),
      {
        key: "seats",
        name: "Seats",
        model: "unit",
        timing: "advance",
        quantity: "seats",
        price: { EUR: "12.00", USD: "13.00" },
      },
      requests("50000"),
      tokens({ EUR: "4.00", USD: "4.40" }),
    ],
    features: {
      requests: { type: "metered", meter: "requests", included: "50000", limit: "soft" },
      sso: { type: "boolean" },
      support: { type: "config", value: "e-mail" },
    },
  },
  {
    key: "scale",
    name: "Scale",
    description: "Three months in advance, with more included.",
    currencies: ["EUR", "USD"],
    interval: { unit: "month", count: 3 },
    charges: [
      base({ EUR: "2400.00", USD: "2600.00" }),
      requests("5000000"),
      tokens({ EUR: "3.00", USD: "3.30" }),
    ],
    features: {
      requests: { type: "metered", meter: "requests", included: "5000000", limit: "soft" },
      sso: { type: "boolean" },
      support: { type: "config", value: "a person" },
    },
  },
]

/** How a customer pays, and what becomes of it. */
export type Story =
  /** It pays, and stays. */
  | "steady"
  /** It took a larger plan, or more seats, in its third month. */
  | "grew"
  /** Each third attempt is declined, and the next one succeeds. */
  | "often_short_of_money"
  /** The card stopped working in the last two months. */
  | "card_expired"
  /** It has no card: a bank transfer is recorded ten days after each invoice. */
  | "pays_by_transfer"
  /** As before, but nothing came in the last two months. */
  | "owes"
  /** It canceled in its third month. */
  | "left"
  /** It paused in its fifth month. */
  | "paused"

export interface Client {
  readonly name: string
  readonly country: string
  readonly taxId?: string
  readonly plan: "starter" | "team" | "scale"
  readonly seats: number
  /** About how many requests it makes on a working day. */
  readonly requests: number
  /** How many days before the end of the year it came: most came late, as to a company that grows. */
  readonly daysAgo: number
  readonly story: Story
}

type Row = readonly [
  name: string,
  country: string,
  plan: Client["plan"],
  requests: number,
  daysAgo: number,
  story?: Story,
  taxId?: string,
]

// Prettier tables of data are read more easily than fields.
const ROWS: ReadonlyArray<Row> = [
  ["Harbour & Sons Logistics", "GB", "team", 9_000, 364],
  ["Kartenwerk GmbH", "DE", "team", 14_000, 347, "pays_by_transfer", "DE136695976"],
  ["Vélo Partagé SAS", "FR", "team", 21_000, 330, "steady", "FR40303265045"],
  ["Pequeño Mapa SL", "ES", "starter", 1_400, 314, "grew", "ESB58378431"],
  ["Nordlys Ferger AS", "NO", "starter", 800, 298],
  ["Bluefin Delivery Inc.", "US", "scale", 190_000, 283],
  ["Atelier Lindqvist", "SE", "starter", 500, 268, "left"],
  ["Tramline Transit", "NL", "team", 17_000, 253, "often_short_of_money", "NL004495445B01"],
  ["Gipfelbuch", "AT", "starter", 2_200, 239, "grew", "ATU13585627"],
  ["Osteria Digitale Srl", "IT", "starter", 650, 226, "card_expired"],
  ["Wanderfreund", "CH", "starter", 1_100, 213],
  ["Fjordtaxi", "DK", "team", 11_000, 200, "steady", "DK13585628"],
  ["Quayside Insurance plc", "GB", "scale", 120_000, 188, "pays_by_transfer"],
  ["Petit Facteur", "FR", "starter", 900, 177],
  ["Havenkaart BV", "NL", "starter", 1_900, 166, "steady", "NL123456782B12"],
  ["Casa Verde Imóveis", "PT", "starter", 700, 155, "paused"],
  ["Long Valley Farms", "US", "starter", 400, 145],
  ["Rettungsleitstelle Süd", "DE", "team", 26_000, 135, "steady", "DE129273398"],
  ["Polderdrones", "NL", "team", 8_000, 125, "grew"],
  ["Sirocco Sailing", "IT", "starter", 500, 116],
  ["Café Finder", "FR", "starter", 3_000, 108, "often_short_of_money"],
  ["Redwood Realty", "US", "team", 19_000, 99],
  ["Stadtwerke Mühlhausen", "DE", "team", 13_000, 92, "owes", "DE811569869"],
  ["Aurora Expeditions", "FI", "starter", 600, 84, "left"],
  ["Bergbahnen Tirol", "AT", "team", 7_500, 77, "steady", "ATU10223006"],
  ["Parcel Pigeon", "IE", "team", 31_000, 71, "steady", "IE6388047V"],
  ["Mercado Cercano", "ES", "starter", 1_700, 64, "grew"],
  ["Loppis Karta", "SE", "starter", 350, 58, "left"],
  ["Meridian Surveyors", "GB", "team", 5_000, 53],
  ["Grünflächenamt Weimar", "DE", "starter", 450, 48, "pays_by_transfer"],
  ["Sunbelt Couriers", "US", "team", 23_000, 43, "often_short_of_money"],
  ["Cyclo Liège", "BE", "starter", 1_200, 38, "steady", "BE0428759497"],
  ["Kompass Reisen", "DE", "starter", 2_600, 34],
  ["Trattoria Mappe", "IT", "starter", 300, 30],
  ["Pinewood Schools", "US", "starter", 900, 27],
  ["Archipelago Rentals", "HR", "starter", 1_000, 24],
  ["Deichgraf Energie", "DE", "scale", 150_000, 21, "steady", "DE118509776"],
  ["Lisboa a Pé", "PT", "starter", 800, 18],
  ["Snowline Rescue", "CH", "team", 4_500, 16],
  ["Budapest Futár Kft.", "HU", "team", 12_000, 14, "card_expired", "HU12345676"],
  ["Old Town Tours", "CZ", "starter", 1_300, 12],
  ["Greenway Parking", "US", "team", 16_000, 11],
  ["Fietskoerier Utrecht", "NL", "starter", 2_000, 9, "steady"],
  ["Ocean Lab Brest", "FR", "team", 6_000, 8],
  ["Kiosk am Eck", "DE", "starter", 150, 7],
  ["Baltic Charter", "EE", "starter", 700, 7],
  ["Vineyard Weather", "IT", "team", 9_500, 6],
  ["Metro Minute", "US", "team", 14_000, 6],
  ["Rue Libre", "FR", "starter", 1_500, 6],
  ["Sternwarte Bonn", "DE", "starter", 400, 6],
]

/** The customers, those that came first before the others. */
export const CLIENTS: ReadonlyArray<Client> = ROWS.map(
  ([name, country, plan, requests, daysAgo, story = "steady", taxId], place) => ({
    name,
    country,
    plan,
    requests,
    daysAgo,
    story,
    seats: 2 + ((place * 5) % 9),
    ...(taxId === undefined ? {} : { taxId }),
  }),
)

/** The currency of a customer's country. */
export const currencyOf = ({ country }: Client): "EUR" | "USD" => (country === "US" ? "USD" : "EUR")

/** An address that leads nowhere (RFC 2606). */
export const emailOf = ({ name }: Client): string =>
  `billing@${name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "")}.example`
