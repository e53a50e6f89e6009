/** Stands in for Stripe.js with the fake of Stripe's API: the calls that this shop makes, in the same form. */
{
  const { api } = document.currentScript.dataset

  /** Of the fake, with any date and any CVC. */
  const TEST_CARDS = [
    "4242 4242 4242 4242 pays",
    "4000 0000 0000 0002 is refused",
    "4000 0000 0000 0341 is saved, and then declined",
    "4000 0025 0000 3155 asks when it is saved",
    "4000 0027 6000 3184 asks for each payment",
  ]

  const field = (id, label, attributes) => {
    const box = document.createElement("div")
    const name = Object.assign(document.createElement("label"), { htmlFor: id, textContent: label })
    const input = Object.assign(document.createElement("input"), { id, required: true, ...attributes })
    box.append(name, input)
    return { box, input }
  }

  /** The fields of a card. */
  const cardElement = () => {
    const number = field("card-number", "Card number", { autocomplete: "cc-number", inputMode: "numeric" })
    const expiry = field("card-expiry", "Expires", { autocomplete: "cc-exp", placeholder: "MM / YY" })
    const cvc = field("card-cvc", "CVC", { autocomplete: "cc-csc", inputMode: "numeric" })
    const rest = Object.assign(document.createElement("div"), { className: "fields" })
    rest.append(expiry.box, cvc.box)
    const hint = Object.assign(document.createElement("details"), { className: "cards" })
    hint.innerHTML = `<summary>Test cards</summary><ul>${TEST_CARDS.map((card) => `<li>${card}</li>`).join("")}</ul>`
    return {
      mount: (selector) => document.querySelector(selector).append(number.box, rest, hint),
      read: () => {
        const [month = "", year = ""] = expiry.input.value.split("/").map((part) => part.trim())
        return {
          "card[number]": number.input.value.replaceAll(" ", ""),
          "card[exp_month]": month,
          "card[exp_year]": `20${year}`,
          "card[cvc]": cvc.input.value,
        }
      },
    }
  }

  /** The bank asks. Gives whether the customer has confirmed. */
  const askCustomer = () =>
    new Promise((resolve) => {
      const dialog = document.createElement("dialog")
      dialog.setAttribute("aria-labelledby", "bank-title")
      dialog.innerHTML = `<form method="dialog"><h2 id="bank-title">Example Bank</h2>
        <p>Is it you who wants to pay The Daily Example?</p>
        <button value="yes">Yes, confirm</button><button class="other" value="no">No, refuse</button></form>`
      dialog.addEventListener("close", () => {
        dialog.remove()
        resolve(dialog.returnValue === "yes")
      })
      document.body.append(dialog)
      dialog.showModal()
    })

  window.Stripe = (key) => {
    const call = async (method, path, params) => {
      const form = new URLSearchParams({ key, ...params })
      const url = `${api}/v1/${path}`
      const response = await (method === "GET"
        ? fetch(`${url}?${form}`)
        : fetch(url, { method: "POST", body: form }))
      const answer = await response.json()
      return response.ok ? { object: answer } : { error: answer.error }
    }
    /** Confirms an intent, unless the server has, and asks the customer if the bank does. */
    const confirm = async (kind, secret, params) => {
      const [id] = secret.split("_secret_")
      const path = `${kind}/${id}`
      const confirmed = await (params === undefined
        ? call("GET", path, { client_secret: secret })
        : call("POST", `${path}/confirm`, { client_secret: secret, ...params }))
      if (confirmed.error !== undefined || confirmed.object.status !== "requires_action") return confirmed
      const isConfirmed = await askCustomer()
      await fetch("/fake-bank", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ intent: id, isConfirmed }),
      })
      const read = await call("GET", path, { client_secret: secret })
      const error = read.object?.last_setup_error ?? read.object?.last_payment_error
      return error ? { error } : read
    }
    return {
      elements: () => ({ create: cardElement }),
      confirmCardSetup: async (secret, { payment_method: { card } }) => {
        const made = await call("POST", "payment_methods", { type: "card", ...card.read() })
        if (made.error !== undefined) return made
        return confirm("setup_intents", secret, { payment_method: made.object.id })
      },
      confirmCardPayment: (secret) => confirm("payment_intents", secret),
    }
  }
}
