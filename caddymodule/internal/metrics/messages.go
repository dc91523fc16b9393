package metrics

var sentMessages = NewCounter("messages_total",
	"Messages about accidents, by service and result: sent; failed, after half an hour of attempts; or dropped, because a hundred were "+
		"waiting or the configuration has the URL no more.", "service", "result")

// CountMessages counts messages of notify with a result: sent, failed or dropped.
func CountMessages(service, result string, n int) {
	sentMessages.WithLabelValues(service, result).Add(float64(n))
}
