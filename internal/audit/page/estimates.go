package page

import "github.com/caddy-robots/caddy-robots/internal/audit"

// estimateNames are descriptions of the figures that Report.Estimates names.
var estimateNames = map[string]string{
	"addresses":                       "the number of client addresses",
	"crawlers[].addresses":            "each crawler’s number of client addresses",
	"crawlers[].pace.median_interval": "the median time between requests of crawlers with a rate limit",
	"crawlers[].requests":             "the number of requests of crawlers that are not in the registry",
	"suspects.clients":                "the number of suspects",
}

// Estimates returns descriptions of the figures that are estimates.
func Estimates(r *audit.Report) []string {
	var list []string
	for _, name := range r.Estimates {
		if words, ok := estimateNames[name]; ok {
			name = words
		}
		list = append(list, name)
	}
	return list
}
