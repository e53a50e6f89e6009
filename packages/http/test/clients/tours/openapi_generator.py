"""The tour of the README with the client that OpenAPI Generator makes for Python."""

import json
import sys
from datetime import date, datetime

import openapi_client as api

url, key = sys.argv[1:]
with api.ApiClient(api.Configuration(host=url, access_token=key)) as client:
    customers = api.CustomersApi(client)
    usage = api.UsageApi(client)
    customer = customers.create_customer(
        api.CreateCustomer(name="Ada Lovelace", email="ada@example.com", metadata={"plan": "pro"}),
        idempotency_key="tour",
    )
    first = api.RecordUsage(
        customer_id=customer.id,
        product_id="api",
        quantity=9007199254740991,
        unit="call",
        timestamp=datetime.fromisoformat("2026-11-20T08:15:00+00:00"),
        idempotency_key="request-8f14",
    )
    record = usage.record_usage(first)
    again = usage.record_usage(first)
    endpoint = api.WebhookEndpointsApi(client).create_webhook_endpoint(
        api.CreateWebhookEndpoint(url="http://127.0.0.1:9", event_types=["*"])
    )
    threshold = api.UsageThresholdsApi(client).create_usage_threshold(
        api.CreateUsageThreshold(
            customer_id=customer.id, product_id="api", unit="call", quantity=9007199254740996, period="month"
        )
    )
    usage.record_usage(
        api.RecordUsage(
            customer_id=customer.id,
            product_id="api",
            quantity=5,
            unit="call",
            timestamp=datetime.fromisoformat("2026-11-20T23:30:00-05:00"),
        )
    )
    summary = usage.summarize_usage(
        customer_id=customer.id, start_date=date(2026, 11, 1), end_date=date(2026, 11, 30)
    )
    delivery = api.DeliveriesApi(client).list_deliveries(limit=1).data[0]
    replayed = api.EventsApi(client).replay_event(delivery.event_id)
    deleted = customers.delete_customer(customer.id)
    try:
        customers.get_customer("cus_unknown")
        missing = ""
    except api.exceptions.NotFoundException as error:
        missing = json.loads(error.body)["error"]

print(
    json.dumps(
        {
            "customer": customer.name,
            "plan": customer.metadata["plan"],
            "quantity": str(record.quantity),
            "repeated": again.id == record.id,
            "secret": endpoint.secret[:6],
            "threshold": str(threshold.quantity),
            "total": str(summary.total_quantity),
            "unit": summary.unit,
            "records": summary.record_count,
            "event": delivery.event_type,
            "replays": len(replayed.data),
            "deleted": deleted.deleted,
            "missing": missing,
        }
    )
)
