package statusapi

import (
	"net/netip"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// MaxRecent is the maximum number of refusals that are kept.
const MaxRecent = 1000

// Recent is the answer to GET /robots/recent: requests that were refused, or would
// have been refused in monitor mode, newest first. For each crawler at each site,
// only a limited number of refusals per minute is kept. Refusal.Omitted counts the
// others.
type Recent struct {
	Last     uint64    `json:"last"` // the highest Refusal.Seq; pass it as RecentQuery.After to get the refusals that follow
	Refusals []Refusal `json:"refusals"`
}

// Refusal is a request that was refused.
type Refusal struct {
	Seq       uint64    `json:"seq"` // number of the refusal, ascending
	Time      time.Time `json:"time"`
	Site      string    `json:"site"`
	Host      string    `json:"host"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`   // without query; "" for a hidden path
	Client    string    `json:"client"` // the client's network: IPv4 /24 or IPv6 /48
	UserAgent string    `json:"user_agent"`
	verdict.Decision
	RetryAfter int `json:"retry_after"` // seconds; 0 if none was sent
	// number of refusals of this crawler at this site, between the previous one that was kept and this one, that were not kept
	Omitted int64 `json:"omitted"`

	Addr netip.Addr `json:"-"` // the address in Client, which is never shown
	Busy bool       `json:"-"` // a probe that requested too many URLs, and is bound as a self-declared crawler
}

// RecentQuery selects refusals.
type RecentQuery struct {
	After uint64 // only refusals with a higher Seq
	Limit int    // 0: DefaultLimit; at most MaxRecent
}
