import { useState } from "react"
import type { Client } from "../api/Client.ts"
import { refused } from "../api/FieldError.ts"
import type { TestClock } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import * as Instant from "../Instant.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { toast } from "../ui/Toast.tsx"
import { type Step, stepFrom, STEPS } from "./ClockStep.ts"

/** One call does at most 100 things. So a clock is advanced by many, at most this many. */
const MAX_CALLS = 10_000

/** Advances until everything that is due has been done. Says how far it is. */
const advance = async (
  client: Client,
  id: string,
  to: string,
  onProgress: (clock: TestClock) => void,
): Promise<TestClock> => {
  for (let call = 1; ; call++) {
    const clock = await client.call("post", "/v1/test_clocks/{id}/advance", { path: { id }, body: { to } })
    onProgress(clock)
    if (clock.status === "ready" || call === MAX_CALLS) return clock
  }
}

/** Moves a test clock, and does what is due on the way. */
export const AdvanceClock = ({
  clock,
  onClose,
}: {
  readonly clock: TestClock
  readonly onClose: () => void
}) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const [step, setStep] = useState<Step | "instant">("month")
  const [entered, setEntered] = useState("")
  const [reached, setReached] = useState<string>()
  const pending = clock.advancing_to
  const to = pending ?? (step === "instant" ? Instant.fromLocalInput(entered) : stepFrom(clock.now, step))
  return (
    <ActionDialog
      action={["Advance", "Advancing…"]}
      description="Everything that becomes due on the way is done: renewals, invoices, payments. Time does not go back."
      isDisabled={to === undefined}
      onClose={onClose}
      onDone={({ now, status }) => {
        toast(status === "ready" ? `It is ${Instant.day(now)}` : "It is still advancing")
        onClose()
        void refresh()
      }}
      run={async () => {
        if (to === undefined) throw refused("to", "must be a time")
        return advance(client, clock.id, to, ({ now }) => setReached(now))
      }}
      title="Advance the clock"
    >
      {pending === null ? (
        <Field label="By" name="to">
          {(attributes) => (
            <select
              {...attributes}
              onChange={({ target }) => setStep(target.value as Step | "instant")}
              value={step}
            >
              {STEPS.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
              <option value="instant">Up to a time</option>
            </select>
          )}
        </Field>
      ) : (
        <p>It was on its way. It goes on from where it is.</p>
      )}
      {step === "instant" && pending === null && (
        <Field label={`Time (${Instant.zone})`}>
          {(attributes) => (
            <input
              {...attributes}
              onChange={({ target }) => setEntered(target.value)}
              type="datetime-local"
              value={entered}
            />
          )}
        </Field>
      )}
      <p role="status">
        {reached !== undefined && `It has reached ${Instant.utc(reached)}. `}
        {to !== undefined && `It will be ${Instant.utc(to)}.`}
      </p>
    </ActionDialog>
  )
}
