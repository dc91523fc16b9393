package mistakes

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

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
