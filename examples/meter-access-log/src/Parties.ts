/**
 * Who pays for the requests of a client. Edit the table to suit your customers.
 */
import { BlockList, isIP, isIPv4 } from "node:net"

/** A paying party. The e-mail address identifies it, and finds its customer again. */
export interface Party {
  readonly name: string
  readonly email: string
}

const network = (address: string, prefix: number): BlockList => {
  const list = new BlockList()
  list.addSubnet(address, prefix, isIPv4(address) ? "ipv4" : "ipv6")
  return list
}

/** Parties with their own networks. */
const PARTIES: ReadonlyArray<Party & { readonly network: BlockList }> = [
  { name: "Northwind", email: "billing@northwind.example", network: network("127.0.0.16", 28) },
  { name: "Contoso", email: "accounts@contoso.example", network: network("127.0.0.32", 28) },
]

/** The domain of generated addresses for unknown clients. It is reserved (RFC 2606), so no mail can arrive there. */
const NO_MAIL_DOMAIN = "clients.example"

/** The party of a client: the one whose network contains it, or else a party only for this client. */
export const partyOf = (client: string): Party => {
  const version = isIP(client)
  if (version === 0) return { name: client, email: `host-${client}@${NO_MAIL_DOMAIN}` }
  const family = version === 4 ? "ipv4" : "ipv6"
  const known = PARTIES.find(({ network }) => network.check(client, family))
  if (known !== undefined) return { name: known.name, email: known.email }
  // A colon is not allowed in an e-mail address.
  return { name: client, email: `${family}-${client.replaceAll(":", "-")}@${NO_MAIL_DOMAIN}` }
}
