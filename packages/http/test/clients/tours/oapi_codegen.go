// The tour of the README with the client that oapi-codegen makes.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/oapi-codegen/runtime/types"

	billwright "example.com/billwright/client"
)

func must[A any](answer A, err error) A {
	if err != nil {
		panic(err)
	}
	return answer
}

func at(text string) time.Time { return must(time.Parse(time.RFC3339, text)) }

func day(text string) *types.Date { return &types.Date{Time: must(time.Parse(time.DateOnly, text))} }

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	}
	client := must(billwright.NewClientWithResponses(os.Args[1], billwright.WithRequestEditorFn(authorize)))

	tour, usageKey, one := "tour", "request-8f14", 1
	metadata := map[string]string{"plan": "pro"}
	customer := must(client.CreateCustomerWithResponse(ctx,
		&billwright.CreateCustomerParams{IdempotencyKey: &tour},
		billwright.CreateCustomer{Name: "Ada Lovelace", Email: "ada@example.com", Metadata: &metadata})).JSON201

	morning, night := at("2026-11-20T08:15:00Z"), at("2026-11-20T23:30:00-05:00")
	first := billwright.RecordUsage{CustomerId: customer.Id, ProductId: "api", Unit: "call",
		Quantity: 9007199254740991, Timestamp: &morning, IdempotencyKey: &usageKey}
	record := must(client.RecordUsageWithResponse(ctx, nil, first)).JSON201
	again := must(client.RecordUsageWithResponse(ctx, nil, first)).JSON200

	endpoint := must(client.CreateWebhookEndpointWithResponse(ctx, nil,
		billwright.CreateWebhookEndpoint{Url: "http://127.0.0.1:9", EventTypes: []string{"*"}})).JSON201
	threshold := must(client.CreateUsageThresholdWithResponse(ctx, nil, billwright.CreateUsageThreshold{
		CustomerId: customer.Id, ProductId: "api", Unit: "call", Quantity: 9007199254740996,
		Period: billwright.CreateUsageThresholdPeriodMonth})).JSON201
	must(client.RecordUsageWithResponse(ctx, nil, billwright.RecordUsage{CustomerId: customer.Id,
		ProductId: "api", Unit: "call", Quantity: 5, Timestamp: &night}))

	summary := must(client.SummarizeUsageWithResponse(ctx, &billwright.SummarizeUsageParams{
		CustomerId: customer.Id, StartDate: day("2026-11-01"), EndDate: day("2026-11-30")})).JSON200
	delivery := must(client.ListDeliveriesWithResponse(ctx,
		&billwright.ListDeliveriesParams{Limit: &one})).JSON200.Data[0]
	replayed := must(client.ReplayEventWithResponse(ctx, delivery.EventId, nil, billwright.ReplayEvent{}))
	deleted := must(client.DeleteCustomerWithResponse(ctx, customer.Id, nil)).JSON200
	missing := must(client.GetCustomerWithResponse(ctx, "cus_unknown")).JSON404

	output, _ := json.Marshal(map[string]any{
		"customer":  customer.Name,
		"plan":      customer.Metadata["plan"],
		"quantity":  fmt.Sprint(record.Quantity),
		"repeated":  again.Id == record.Id,
		"secret":    (*endpoint.Secret)[:6],
		"threshold": fmt.Sprint(threshold.Quantity),
		"total":     fmt.Sprint(summary.TotalQuantity),
		"unit":      summary.Unit,
		"records":   summary.RecordCount,
		"event":     delivery.EventType,
		"replays":   len(replayed.JSON200.Data),
		"deleted":   deleted.Deleted,
		"missing":   missing.Error,
	})
	fmt.Println(string(output))
}
