package page

import "github.com/caddy-robots/caddy-robots/enforce/audit"

// estimateNames say in words what a figure of the report is.
var estimateNames = map[string]string{
	"addresses":                       "the number of client addresses",
	"crawlers[].addresses":            "each crawler’s number of client addresses",
	"crawlers[].pace.median_interval": "the median interval of crawlers with a pace",
	"crawlers[].requests":             "the number of requests of crawlers that the registry does not know",
	"suspects.clients":                "the number of suspects",
}

// estimates returns in words which figures are estimates.
func estimates(r *audit.Report) []string {
	var list []string
	for _, name := range r.Estimates {
		if words, ok := estimateNames[name]; ok {
			name = words
		}
		list = append(list, name)
	}
	return list
}
