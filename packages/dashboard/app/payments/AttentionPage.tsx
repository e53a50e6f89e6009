/**
 * What a person has to look at: payments that stopped, bills that could not be made, open disputes, and refunds that did not arrive.
 */
import { useQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Link } from "wouter"
import type { Client } from "../api/Client.ts"
import { listAll, type Listed } from "../api/listAll.ts"
import type { Payment } from "../api/Types.ts"
import { CustomerName } from "../customers/CustomerName.tsx"
import { useSession } from "../session/Session.tsx"
import { CutNote } from "../ui/CutNote.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { FailedBills } from "./FailedBills.tsx"
import { DisputeLines, RefundLines, useDisputes, useRefunds } from "./Returned.tsx"

/** The most pages of payments that are shown. */
const MAX_PAGES = 10
const REFRESH_MILLIS = 10_000

const search = (client: Client, signal: AbortSignal): Promise<Listed<Payment>> =>
  listAll<Payment>(MAX_PAGES, (page) =>
    client.call("get", "/v1/payments", { query: { status: "open", figure: "attention", ...page }, signal }),
  )

const useTroubled = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["payments", "attention"],
    queryFn: ({ signal }) => search(client, signal),
    refetchInterval: REFRESH_MILLIS,
  })
}

const Section = ({
  children,
  id,
  title,
}: {
  readonly id: string
  readonly title: string
  readonly children: ReactNode
}) => (
  <section aria-labelledby={id} className="section">
    <h2 id={id}>{title}</h2>
    {children}
  </section>
)

const TroubledLines = ({ payments }: { readonly payments: ReadonlyArray<Payment> }) => (
  <ul className="lines">
    {payments.map((payment) => (
      <li className="line linked" key={payment.id}>
        <span className="grow two-lines">
          <Link className="row-link clip" href={`/payments/${payment.id}`}>
            <CustomerName id={payment.customer_id} isPlain />
          </Link>
          <span className="muted">{payment.attention?.message}</span>
        </span>
        <Amount amount={payment.amount} currency={payment.currency} />
        {payment.attention !== null && <Time at={payment.attention.since} />}
      </li>
    ))}
  </ul>
)

const Payments = () => (
  <Loaded lines={3} query={useTroubled()}>
    {({ isCut, items: payments }) => (
      <>
        {payments.length === 0 ? (
          <p className="muted">
            None. Payments that are retried or wait for the customer go on by themselves.
          </p>
        ) : (
          <TroubledLines payments={payments} />
        )}
        <CutNote count={payments.length} isCut={isCut} />
      </>
    )}
  </Loaded>
)

const Disputes = () => (
  <Loaded lines={1} query={useDisputes({ status: "open" })}>
    {(page) => <DisputeLines empty="None." page={page} />}
  </Loaded>
)

const Refunds = ({ status }: { readonly status: "failed" | "unresolved" }) => (
  <Loaded lines={1} query={useRefunds({ status })}>
    {(page) => <RefundLines empty="None." page={page} />}
  </Loaded>
)

export const AttentionPage = () => (
  <Page title="What needs attention" up={{ href: "/payments", label: "Payments", id: "attention" }}>
    <Section id="payments-title" title="Payments that a person has to look at">
      <Payments />
    </Section>
    <Section id="bills-title" title="Bills that could not be made">
      <FailedBills />
    </Section>
    <Section id="disputes-title" title="Open disputes">
      <Disputes />
    </Section>
    <Section id="failed-title" title="Refunds that failed">
      <Refunds status="failed" />
    </Section>
    <Section id="unresolved-title" title="Refunds whose outcome is unknown">
      <Refunds status="unresolved" />
    </Section>
  </Page>
)
