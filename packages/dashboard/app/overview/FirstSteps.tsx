import { Link } from "wouter"
import * as Curl from "../Curl.ts"
import { apiAddress } from "../shell/ApiAddress.ts"
import { Command } from "../ui/Command.tsx"
import { Icon } from "../ui/Icon.tsx"

interface FirstStepsProps {
  readonly hasCustomer: boolean
  readonly hasEndpoint: boolean
  readonly hasEvent: boolean
}

const Step = ({
  children,
  isDone,
  title,
}: {
  readonly isDone: boolean
  readonly title: string
  readonly children: React.ReactNode
}) => (
  <li className="step">
    <h3>
      <span className={`badge ${isDone ? "delivered" : "pending"}`}>
        <Icon name={isDone ? "delivered" : "pending"} />
        {isDone ? "Done" : "To do"}
      </span>
      {title}
    </h3>
    {!isDone && children}
  </li>
)

const CUSTOMER = { name: "Ada Lovelace", email: "ada@example.com" }

/** The first steps on an empty server. */
export const FirstSteps = ({ hasCustomer, hasEndpoint, hasEvent }: FirstStepsProps) => (
  <section aria-labelledby="first-steps" className="section">
    <h2 id="first-steps">First steps</h2>
    <ol className="steps">
      <Step isDone={hasCustomer} title="Create a customer">
        <p>
          On the page <Link href="/customers">Customers</Link>, or by the API:
        </p>
        <Command text={Curl.apiCurl(apiAddress(), "POST", "/customers", CUSTOMER)} />
      </Step>
      <Step isDone={hasEndpoint} title="Create a webhook endpoint">
        <p>
          On the page <Link href="/endpoints">Endpoints</Link>. In test mode it may be on the server’s own
          machine, if the server allows loopback.
        </p>
      </Step>
      <Step isDone={hasEvent} title="Send it a test event">
        <p>From the endpoint’s page. Then see here whether it arrived.</p>
      </Step>
    </ol>
  </section>
)
