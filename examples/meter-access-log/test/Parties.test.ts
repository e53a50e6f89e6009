import { describe, expect, it } from "vitest"
import { partyOf } from "../src/Parties.ts"

describe("partyOf", () => {
  it.each([
    ["127.0.0.15", "ipv4-127.0.0.15@clients.example"],
    ["127.0.0.16", "billing@northwind.example"],
    ["127.0.0.31", "billing@northwind.example"],
    ["127.0.0.32", "accounts@contoso.example"],
    ["2001:db8::1", "ipv6-2001-db8--1@clients.example"],
    ["::1", "ipv6---1@clients.example"],
    ["ipv4-127.0.0.15", "host-ipv4-127.0.0.15@clients.example"],
  ])("%s is %s", (client, email) => {
    expect(partyOf(client).email).toBe(email)
  })
})
