import { useState } from "react"
import { useLocation } from "wouter"
import type { TestClock } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import * as Curl from "../Curl.ts"
import { useSession } from "../session/Session.tsx"
import { apiAddress } from "../shell/ApiAddress.ts"
import { ActionButton } from "../ui/ActionButton.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Command } from "../ui/Command.tsx"
import { Fact, Facts } from "../ui/Facts.tsx"
import { Identifier } from "../ui/Identifier.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/Toast.tsx"
import { AdvanceClock } from "./AdvanceClock.tsx"
import { ClockBadge, clockName } from "./ClockState.tsx"
import { useTestClock } from "./useCustomerNow.ts"

const DeleteClock = ({ clock, onClose }: { readonly clock: TestClock; readonly onClose: () => void }) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const [, navigate] = useLocation()
  return (
    <ActionDialog
      action={["Delete the clock", "Deleting…"]}
      description="Only a clock without customers can be deleted: erase them first."
      isDangerous
      onClose={onClose}
      onDone={() => {
        toast("Deleted")
        navigate("/test-clocks")
        void refresh()
      }}
      run={() => client.call("delete", "/v1/test_clocks/{id}", { path: { id: clock.id } })}
      title={`Delete ${clockName(clock)}?`}
    />
  )
}

const ClockFacts = ({ clock }: { readonly clock: TestClock }) => (
  <Facts>
    <Fact name="Clock">
      <Identifier id={clock.id} />
    </Fact>
    <Fact name="Its time">
      <Time at={clock.now} isWhole />
    </Fact>
    {clock.advancing_to !== null && (
      <Fact name="On its way to">
        <Time at={clock.advancing_to} isWhole />
      </Fact>
    )}
    <Fact name="Created">
      <Time at={clock.created_at} isWhole />
    </Fact>
  </Facts>
)

/** How a customer comes to live in the time of the clock. */
const HowToUse = ({ id }: { readonly id: string }) => (
  <section aria-labelledby="use-title" className="section">
    <h2 id="use-title">A customer in its time</h2>
    <Command
      text={Curl.apiCurl(apiAddress(), "POST", "/customers", {
        name: "Ada Lovelace",
        email: "ada@example.com",
        test_clock_id: id,
      })}
    />
  </section>
)

export const ClockPage = ({ id }: { readonly id: string }) => {
  const query = useTestClock(id)
  const clock = query.data
  const [dialog, setDialog] = useState<"advance" | "delete">()
  const close = () => setDialog(undefined)
  return (
    <Page
      actions={
        clock !== undefined && (
          <>
            <ActionButton
              className="button primary"
              does="post /v1/test_clocks/{id}/advance"
              onClick={() => setDialog("advance")}
            >
              Advance…
            </ActionButton>
            <ActionButton
              className="button dangerous"
              does="delete /v1/test_clocks/{id}"
              onClick={() => setDialog("delete")}
            >
              Delete…
            </ActionButton>
          </>
        )
      }
      aside={clock !== undefined && <ClockBadge status={clock.status} />}
      title={clock === undefined ? "Test clock" : clockName(clock)}
      up={{ href: "/test-clocks", label: "Test clocks", id }}
    >
      <Loaded lines={5} query={query}>
        {(loaded) => (
          <>
            <ClockFacts clock={loaded} />
            <HowToUse id={loaded.id} />
          </>
        )}
      </Loaded>
      {clock !== undefined && dialog === "advance" && <AdvanceClock clock={clock} onClose={close} />}
      {clock !== undefined && dialog === "delete" && <DeleteClock clock={clock} onClose={close} />}
    </Page>
  )
}
