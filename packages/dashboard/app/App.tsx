import { lazy, Suspense } from "react"
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

// The pages that operators need most are in the first bundle. The others are loaded when they are opened.
const OverviewPage = lazy(() =>
  import("./overview/OverviewPage.tsx").then((module) => ({ default: module.OverviewPage })),
)
const EndpointsPage = lazy(() =>
  import("./endpoints/EndpointsPage.tsx").then((module) => ({ default: module.EndpointsPage })),
)
const EndpointPage = lazy(() =>
  import("./endpoints/EndpointPage.tsx").then((module) => ({ default: module.EndpointPage })),
)
const UsagePage = lazy(() =>
  import("./usage/UsagePage.tsx").then((module) => ({ default: module.UsagePage })),
)
const MetersPage = lazy(() =>
  import("./usage/MetersPage.tsx").then((module) => ({ default: module.MetersPage })),
)
const CustomersPage = lazy(() =>
  import("./customers/CustomersPage.tsx").then((module) => ({ default: module.CustomersPage })),
)
const CustomerPage = lazy(() =>
  import("./customers/CustomerPage.tsx").then((module) => ({ default: module.CustomerPage })),
)

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
