package audit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// maxVisits is how many pages are kept, and maxAgent how many octets of a User-Agent.
const (
	maxVisits = 1 << 12
	maxAgent  = 256
)

// visits are pages that browsers opened: of all, one in so many that at most maxVisits are kept.
type visits struct {
	list    []cost.Visit
	all     int64
	skipped uint // of 2^skipped pages, one is kept
}

func (s *visits) add(agent, target string) {
	s.all++
	if s.all&(1<<s.skipped-1) != 0 {
		return
	}
	if len(s.list) == maxVisits {
		for i := range maxVisits / 2 {
			s.list[i] = s.list[2*i+1]
		}
		s.list = s.list[:maxVisits/2]
		s.skipped++
		if s.all&(1<<s.skipped-1) != 0 {
			return
		}
	}
	s.list = append(s.list, cost.Visit{
		Agent: strings.Clone(agent[:min(len(agent), maxAgent)]), Target: strings.Clone(target[:min(len(target), 4*mask.MaxShown)]),
	})
}

// fleet names a User-Agent that opened pages which others hardly want, as the watch of a server does;
// a finding without a text if there is none.
func (s *visits) fleet() Finding {
	f, ok := cost.FindFleet(s.list)
	pages := int64(f.Here) << s.skipped
	if !ok || pages < lonelyRequests {
		return Finding{}
	}
	line := "challenge " + strings.Join(f.Patterns, " ")
	return Finding{
		Code: "fleet",
		Text: fmt.Sprintf("The User-Agent %s opened about %s of %s, and hardly any others, while others hardly want these: a fleet of robots, "+
			"whatever else it fetches, or people who follow one link.", strconv.QuoteToASCII(f.Agent), words.Plural(pages, "page", "pages"), strings.Join(f.Patterns, " ")),
		Change: "If they are robots, write this line into the robots block of the Caddyfile. It asks all with this User-Agent there, also those that " +
			"fetch style sheets and images.",
		Paste: line,
	}
}
