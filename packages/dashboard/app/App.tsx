import { type ComponentType, lazy, Suspense } from "react"
import { Link, Route, Router, Switch } from "wouter"
import { DeliveriesPage } from "./deliveries/DeliveriesPage.tsx"
import { DeliveryPage } from "./deliveries/DeliveryPage.tsx"
import { EventPage } from "./events/EventPage.tsx"
import { EventsPage } from "./events/EventsPage.tsx"
import { mount } from "./Mount.ts"
import { SessionGate } from "./session/Session.tsx"
import { Shell } from "./shell/Shell.tsx"
import { Skeleton } from "./ui/Loading.tsx"
import { Page } from "./ui/Page.tsx"

/** A page that is loaded when it is opened. */
const page = <N extends string, P>(
  name: N,
  load: () => Promise<{ readonly [each in N]: ComponentType<P> }>,
) => lazy(() => load().then((module) => ({ default: module[name] })))

// The pages that operators need most are in the first bundle. The others are loaded when they are opened.
const OverviewPage = page("OverviewPage", () => import("./overview/OverviewPage.tsx"))
const EndpointsPage = page("EndpointsPage", () => import("./endpoints/EndpointsPage.tsx"))
const EndpointPage = page("EndpointPage", () => import("./endpoints/EndpointPage.tsx"))
const UsagePage = page("UsagePage", () => import("./usage/UsagePage.tsx"))
const MetersPage = page("MetersPage", () => import("./usage/MetersPage.tsx"))
const CustomersPage = page("CustomersPage", () => import("./customers/CustomersPage.tsx"))
const CustomerPage = page("CustomerPage", () => import("./customers/CustomerPage.tsx"))
const InvoicesPage = page("InvoicesPage", () => import("./invoices/InvoicesPage.tsx"))
const InvoicePage = page("InvoicePage", () => import("./invoices/InvoicePage.tsx"))
const SubscriptionsPage = page("SubscriptionsPage", () => import("./subscriptions/SubscriptionsPage.tsx"))
const SubscriptionPage = page("SubscriptionPage", () => import("./subscriptions/SubscriptionPage.tsx"))
const PaymentsPage = page("PaymentsPage", () => import("./payments/PaymentsPage.tsx"))
const AttentionPage = page("AttentionPage", () => import("./payments/AttentionPage.tsx"))
const PaymentPage = page("PaymentPage", () => import("./payments/PaymentPage.tsx"))
const CreditsPage = page("CreditsPage", () => import("./credits/CreditsPage.tsx"))
const ClocksPage = page("ClocksPage", () => import("./clocks/ClocksPage.tsx"))
const ClockPage = page("ClockPage", () => import("./clocks/ClockPage.tsx"))
const PlansPage = page("PlansPage", () => import("./plans/PlansPage.tsx"))
const PlanPage = page("PlanPage", () => import("./plans/PlanPage.tsx"))
const AuditLogPage = page("AuditLogPage", () => import("./audit/AuditLogPage.tsx"))
const AuditRecordPage = page("AuditRecordPage", () => import("./audit/AuditRecordPage.tsx"))
const MoneyPage = page("MoneyPage", () => import("./money/MoneyPage.tsx"))

const NotFound = () => (
  <Page title="Page not found">
    <p>
      There is no page at this address. Start from the <Link href="/">overview</Link>.
    </p>
  </Page>
)

const Waiting = () => (
  <main className="page" id="main">
    <Skeleton lines={8} />
  </main>
)

/** The key makes a new page for each item, so that no state of the previous item stays. */
const Pages = () => (
  <Switch>
    <Route path="/">
      <OverviewPage />
    </Route>
    <Route path="/events">
      <EventsPage />
    </Route>
    <Route path="/events/:id">{({ id }) => <EventPage id={id} key={id} />}</Route>
    <Route path="/deliveries">
      <DeliveriesPage />
    </Route>
    <Route path="/deliveries/:id">{({ id }) => <DeliveryPage id={id} key={id} />}</Route>
    <Route path="/endpoints">
      <EndpointsPage />
    </Route>
    <Route path="/endpoints/:id">{({ id }) => <EndpointPage id={id} key={id} />}</Route>
    <Route path="/audit-log">
      <AuditLogPage />
    </Route>
    <Route path="/audit-log/:id">{({ id }) => <AuditRecordPage id={id} key={id} />}</Route>
    <Route path="/usage">
      <UsagePage />
    </Route>
    <Route path="/usage/meters">
      <MetersPage />
    </Route>
    <Route path="/customers">
      <CustomersPage />
    </Route>
    <Route path="/customers/:id">{({ id }) => <CustomerPage id={id} key={id} />}</Route>
    <Route path="/subscriptions">
      <SubscriptionsPage />
    </Route>
    <Route path="/subscriptions/:id">{({ id }) => <SubscriptionPage id={id} key={id} />}</Route>
    <Route path="/customers/:id/credits">{({ id }) => <CreditsPage id={id} key={id} />}</Route>
    <Route path="/payments">
      <PaymentsPage />
    </Route>
    <Route path="/payments/attention">
      <AttentionPage />
    </Route>
    <Route path="/payments/:id">{({ id }) => <PaymentPage id={id} key={id} />}</Route>
    <Route path="/test-clocks">
      <ClocksPage />
    </Route>
    <Route path="/test-clocks/:id">{({ id }) => <ClockPage id={id} key={id} />}</Route>
    <Route path="/money">
      <MoneyPage />
    </Route>
    <Route path="/plans">
      <PlansPage />
    </Route>
    <Route path="/plans/:key">{({ key }) => <PlanPage key={key} planKey={key} />}</Route>
    <Route path="/invoices">
      <InvoicesPage />
    </Route>
    <Route path="/invoices/:id">{({ id }) => <InvoicePage id={id} key={id} />}</Route>
    <Route>
      <NotFound />
    </Route>
  </Switch>
)

export const App = () => (
  <Router base={mount.basePath}>
    <SessionGate>
      <Shell>
        <Suspense fallback={<Waiting />}>
          <Pages />
        </Suspense>
      </Shell>
    </SessionGate>
  </Router>
)
