/**
 * The REST definitions of customers.
 */
import { Customer, Metadata } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const NameField = Customer.CustomerName.annotate({ description: "The customer's name." })
const EmailField = Customer.Email.annotate({ description: "The customer's e-mail address, kept as given." })
const MetadataField = Metadata.Metadata.annotate({ description: "Free-form key/value pairs of yours." })

/** A customer as it is answered. */
export const CustomerBody = Schema.Struct({
  object: Schema.Literal("customer"),
  id: Customer.CustomerId.annotate({ description: "The id of the customer." }),
  name: NameField,
  email: EmailField,
  metadata: MetadataField,
  livemode: Schema.Boolean.annotate({ description: "Whether this is live, or of the test mode." }),
  created_at: Wire.instant("When the customer was created."),
  updated_at: Wire.instant("When the customer last changed."),
}).annotate({ identifier: "Customer", description: "Whom usage and events belong to." })

/** What is left of a customer that was deleted. */
export const DeletedCustomerBody = Schema.Struct({
  object: Schema.Literal("customer"),
  id: Customer.CustomerId.annotate({ description: "The id of the customer." }),
  deleted: Schema.Literal(true),
}).annotate({ identifier: "DeletedCustomer", description: "A customer that was erased." })

const CreateBody = Schema.Struct({
  name: NameField,
  email: EmailField,
  metadata: Schema.optionalKey(MetadataField),
}).annotate({ identifier: "CreateCustomer", description: "What it takes to create a customer." })

const UpdateBody = Schema.Struct({
  name: Schema.optionalKey(NameField),
  email: Schema.optionalKey(EmailField),
  metadata: Schema.optionalKey(
    Schema.NullOr(Metadata.MetadataPatch).annotate({
      description: "Keys to set; a key set to null is removed, others stay. `null` removes all of them.",
    }),
  ),
}).annotate({ identifier: "UpdateCustomer", description: "What to change. What is left out stays." })

const ListQuery = Schema.Struct({
  ...Wire.pageFields,
  email: Schema.optionalKey(
    Customer.Email.annotate({ description: "Only customers with exactly this e-mail address." }),
  ),
  search: Schema.optionalKey(
    Customer.Search.annotate({
      description: "Only customers with this text in their name or e-mail address, whatever the case.",
    }),
  ),
}).pipe(Schema.encodeKeys(Wire.pageKeys))

// A path with text that can't be an id is an unknown path, not a malformed request: the handlers look it up.
const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the customer." }) })

export const CustomersApi = HttpApiGroup.make("customers")
  .add(
    HttpApiEndpoint.post("createCustomer", "/customers", {
      payload: CreateBody,
      success: CustomerBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors(),
    })
      .annotate(RequiredPermission, "customers:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a customer",
          description: "Creates a customer and gives it an id.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listCustomers", "/customers", {
      query: ListQuery,
      success: Wire.list(CustomerBody, "CustomerList"),
      error: readErrors(),
    })
      .annotate(RequiredPermission, "customers:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "List customers", description: "Lists customers, newest first." }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getCustomer", "/customers/:id", {
      params: Params,
      success: CustomerBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "customers:read")
      .annotateMerge(OpenApi.annotations({ summary: "Get a customer", description: "Gives one customer." })),
  )
  .add(
    HttpApiEndpoint.patch("updateCustomer", "/customers/:id", {
      params: Params,
      payload: UpdateBody,
      success: CustomerBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "customers:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Change a customer",
          description: "Changes the fields that are named and leaves the others as they are.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.delete("deleteCustomer", "/customers/:id", {
      params: Params,
      success: DeletedCustomerBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "customers:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Erase a customer",
          description:
            "Erases name, e-mail and metadata for good. The id and the usage stay, so that totals stay true; new usage for the customer is answered with 404. Deleting again gives the same answer.",
        }),
      ),
  )
  .annotateMerge(OpenApi.annotations({ title: "Customers", description: "Whom usage and events belong to." }))
