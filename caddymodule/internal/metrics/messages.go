package metrics

var sentMessages = NewCounter("messages_total",
	"Messages about accidents, by service and result: sent, failed, or dropped (a hundred waited, or the URL went).", "service", "result")

// CountMessages counts messages of notify with a result: sent, failed or dropped.
func CountMessages(service, result string, n int) {
	sentMessages.WithLabelValues(service, result).Add(float64(n))
}
