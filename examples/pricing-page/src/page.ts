/** The page: two sliders, the price, and why it is that. It runs in the browser. */
import { rater } from "billwright/rating"
import { base, calls, currency, seats } from "./Plan.ts"
import { amountText, number, words } from "./Words.ts"

const STEPS_PER_DECADE = 100

const element = <E extends Element>(selector: string): E => {
  const found = document.querySelector<E>(selector)
  if (found === null) throw new Error(`the page has no ${selector}`)
  return found
}

/** The slider of calls is logarithmic, and gives round numbers: 1,230,000 and not 1,230,268. */
const callsAt = (position: number): number => {
  const calls = 10 ** (position / STEPS_PER_DECADE)
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(calls)) - 2)
  return Math.round(calls / unit) * unit
}

const lines = [
  { charge: base, quantity: () => 1 },
  { charge: seats, quantity: () => Number(element<HTMLInputElement>("#seats").value) },
  { charge: calls, quantity: () => callsAt(Number(element<HTMLInputElement>("#calls").value)) },
].map((line) => ({ ...line, ready: rater(line.charge, currency) }))

const listItem = (text: string): HTMLLIElement => {
  const item = document.createElement("li")
  item.textContent = text
  return item
}

const show = (): void => {
  let total = 0n
  const items = lines.flatMap(({ charge, quantity, ready }) => {
    const { amount, steps } = ready.rate(quantity())
    total += amount
    const item = listItem(`${charge.name}: ${amountText(amount, currency)}`)
    const reasons = document.createElement("ul")
    reasons.append(...steps.flatMap((step) => words(step, currency) ?? []).map(listItem))
    item.append(reasons)
    return [item]
  })
  element("#seats-chosen").textContent = element<HTMLInputElement>("#seats").value
  element("#calls-chosen").textContent = number(String(lines[2]!.quantity()))
  element("#total").textContent = amountText(total, currency)
  element("#why").replaceChildren(...items)
}

element("form").addEventListener("input", show)
show()
