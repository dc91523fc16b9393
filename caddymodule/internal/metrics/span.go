package metrics

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// attributePrefix begins the names of span attributes.
const attributePrefix = "robots."

// SetAttributes adds values to the current span, as attributes with these names.
// Empty values are left out.
func SetAttributes(ctx context.Context, names []string, value func(name string) any) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	attributes := make([]attribute.KeyValue, 0, len(names))
	for _, name := range names {
		switch v := value(name).(type) {
		case string:
			if v != "" {
				attributes = append(attributes, attribute.String(attributePrefix+name, Clip(v)))
			}
		case int:
			if v != 0 {
				attributes = append(attributes, attribute.Int(attributePrefix+name, v))
			}
		}
	}
	span.SetAttributes(attributes...)
}
