package mistakes

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// BusyProbes returns the problem of the probes that requested too many URLs.
func BusyProbes(names, networks []string, requests int) statusapi.Problem {
	const shown = 3
	return problem("probe", words.List(names, shown),
		fmt.Sprintf("%s of probes that requested too many URLs were refused in the last hour: %s", words.Plural(requests, "request", "requests"),
			words.List(names, shown)),
		fmt.Sprintf("From one address on the internet, or behind a proxy that is not in trusted_proxies, probes may request "+
			"%d different URLs of a site in an hour, whatever their names, or %d if they are verified; for further URLs, the "+
			"group for `*` applies. The last such requests came from %s. If that is a monitor of yours, write `exempt %q from ADDRESS`.",
			enforce.MaxProbeTargets, enforce.MaxVerifiedTargets, words.List(networks, shown), names[0]))
}

// Evictions returns the problem that files of robots.txt are dropped, and read again, too
// often.
func Evictions(m *statusapi.Memory) statusapi.Problem {
	subject, correction := "max_origins", "Set max_origins above the number of your hosts."
	if m.Octets > m.MaxOctets/10*9 {
		subject, correction = "max_memory", "Raise max_memory in the global option robots."
	}
	return problem("memory", subject,
		fmt.Sprintf("in one minute, the robots.txt files of %d hosts were dropped because of %s, and %d files were fetched "+
			"again: crawlers wait for them",
			m.Evictions, subject, m.Repeated),
		correction)
}
