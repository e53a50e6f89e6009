// The tour of the README with the client that OpenAPI Generator makes for Go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	billwright "example.com/billwright/client"
)

func must[A any, B any](answer A, _ B, err error) A {
	if err != nil {
		panic(err)
	}
	return answer
}

func at(text string) *time.Time {
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return &instant
}

func main() {
	configuration := billwright.NewConfiguration()
	configuration.Servers = billwright.ServerConfigurations{{URL: os.Args[1]}}
	client := billwright.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), billwright.ContextAccessToken, os.Args[2])

	ada := billwright.NewCreateCustomer("Ada Lovelace", "ada@example.com")
	ada.SetMetadata(map[string]string{"plan": "pro"})
	customer := must(client.CustomersAPI.CreateCustomer(ctx).CreateCustomer(*ada).IdempotencyKey("tour").Execute())

	first := billwright.NewRecordUsage(customer.Id, "api", 9007199254740991, "call")
	first.Timestamp = at("2026-11-20T08:15:00Z")
	first.SetIdempotencyKey("request-8f14")
	record := must(client.UsageAPI.RecordUsage(ctx).RecordUsage(*first).Execute())
	again := must(client.UsageAPI.RecordUsage(ctx).RecordUsage(*first).Execute())

	hook := billwright.NewCreateWebhookEndpoint("http://127.0.0.1:9", []string{"*"})
	endpoint := must(client.WebhookEndpointsAPI.CreateWebhookEndpoint(ctx).CreateWebhookEndpoint(*hook).Execute())
	limit := billwright.NewCreateUsageThreshold(customer.Id, "api", "call", 9007199254740996, "month")
	threshold := must(client.UsageThresholdsAPI.CreateUsageThreshold(ctx).CreateUsageThreshold(*limit).Execute())
	second := billwright.NewRecordUsage(customer.Id, "api", 5, "call")
	second.Timestamp = at("2026-11-20T23:30:00-05:00")
	must(client.UsageAPI.RecordUsage(ctx).RecordUsage(*second).Execute())

	summary := must(client.UsageAPI.SummarizeUsage(ctx).
		CustomerId(customer.Id).StartDate("2026-11-01").EndDate("2026-11-30").Execute())
	delivery := must(client.DeliveriesAPI.ListDeliveries(ctx).Limit(1).Execute()).Data[0]
	replayed := must(client.EventsAPI.ReplayEvent(ctx, delivery.EventId).Execute())
	deleted := must(client.CustomersAPI.DeleteCustomer(ctx, customer.Id).Execute())
	_, _, err := client.CustomersAPI.GetCustomer(ctx, "cus_unknown").Execute()
	var failure *billwright.GenericOpenAPIError
	if !errors.As(err, &failure) {
		panic(err)
	}
	missing := failure.Model().(billwright.NotFoundError)

	output, _ := json.Marshal(map[string]any{
		"customer":  customer.Name,
		"plan":      customer.Metadata["plan"],
		"quantity":  fmt.Sprint(record.Quantity),
		"repeated":  again.Id == record.Id,
		"secret":    (*endpoint.Secret)[:6],
		"threshold": fmt.Sprint(threshold.Quantity),
		"total":     fmt.Sprint(summary.TotalQuantity),
		"unit":      summary.Unit.Get(),
		"records":   summary.RecordCount,
		"event":     delivery.EventType,
		"replays":   len(replayed.Data),
		"deleted":   deleted.Deleted,
		"missing":   missing.Error,
	})
	fmt.Println(string(output))
}
