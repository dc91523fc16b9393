package enforce

import (
	"net/netip"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/managed"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Action says how to treat a request.
type Action uint8

const (
	Pass     Action = iota // let it through
	Deny                   // refuse it
	Throttle               // refuse it for now, for Decision.RetryAfter
)

// String returns the action's name as logs, metrics and placeholders show it.
func (a Action) String() string { return [...]string{"pass", "deny", "throttle"}[a] }

// Reason says why a decision was made.
type Reason uint8

const (
	Person        Reason = iota // a sender that robots.txt never binds
	Allowed                     // no rule disallows the path, and the pace is kept
	Exempt                      // the operator exempted the crawler
	ExemptPath                  // the path is never denied
	Unbound                     // no group binds this crawler
	NoPolicy                    // there is no robots.txt, or none could be read yet
	Disallowed                  // a rule disallows the path
	Impostor                    // it is not the crawler that it says it is
	Unavailable                 // the source fails, and the operator chose to deny then
	PolicyPending               // no robots.txt could be read yet
	CrawlDelay                  // too soon
	RequestRate                 // too many
	VisitTime                   // the wrong time of day
	Hidden                      // a path that the operator hides from crawlers
	Graced                      // disallowed by a rule that this crawler may not know yet
	Suspected                   // the client behaves like a robot, and the group for all crawlers disallows the path
	reasons
)

// Reasons is the number of reasons: Reason values are below it.
const Reasons = int(reasons)

// String returns the reason's name as logs, metrics and placeholders show it.
func (r Reason) String() string {
	return [...]string{
		"person", "allowed", "exempt", "exempt_path", "unbound", "no_policy",
		"disallowed", "impostor", "unavailable", "pending", "crawl_delay", "request_rate", "visit_time", "hidden", "grace", "suspect",
	}[r]
}

// Decision says how to treat one request, and why.
type Decision struct {
	Action Action
	Reason Reason
	// Policy is the policy that was applied. It is never nil after Decide.
	Policy *Policy
	// Agent is the crawler that the decision is about. If a User-Agent names
	// several crawlers, it is the one that determined the decision. Its Class
	// is crawler.Person if there is none.
	Agent crawler.Agent
	// Claim is what verification says about the agent.
	Claim verify.Result
	// Group is the group that binds the agent; nil if none does.
	Group *robots.Group
	// Rule is the rule that decided; nil where none matched.
	Rule *robots.Rule
	// Terms is the pace that the group sets for this agent; nil if none.
	Terms *throttle.Terms
	// Layer is where the line that decided comes from.
	Layer Layer
	// Line is the line that decided: the rule's, or that of the Crawl-delay,
	// Request-rate or Visit-time. Layer says whether it is a line of the site's
	// own robots.txt or of the operator's configuration. 0 if no line decided.
	Line int
	// Reading is robots.Google if the file disallows the path when it is read
	// in its dialect, but not when it is read as google/robotstxt reads it. A
	// crawler that reads the file like google/robotstxt is then let through.
	// Otherwise it is 0.
	Reading robots.Dialect
	// Version is the earlier version of the robots.txt by which a request was
	// let through, of reason Graced; else nil. Rule, Layer and Line are then of
	// the version in force, which disallows the path.
	Version *Version
	// RetryAfter is how long the client should wait before it repeats a request
	// that is throttled, or refused because there is no policy.
	RetryAfter time.Duration
	// Delay is how long the request was held before it was let through.
	Delay time.Duration

	hidden *managed.Hidden // of reason Hidden
	addr   netip.Addr      // of the client, where more than the User-Agent counts
}

// Crawler returns the crawler's name in the registry, or else its class, so
// that the number of different names is bounded.
func (d *Decision) Crawler() string {
	if d.Agent.Crawler != nil {
		return d.Agent.Crawler.Name
	}
	return d.Agent.Class.String()
}

// GroupToken returns the token of the group that binds the agent, "" if none
// does.
func (d *Decision) GroupToken() string {
	if d.Group == nil {
		return ""
	}
	return d.Group.Token()
}

// Name returns the name in the registry of the crawler that the decision is
// about, or the token that it sent if the registry does not know it. A token
// comes from the client.
func (d *Decision) Name() string {
	if d.Agent.Crawler != nil {
		return d.Agent.Crawler.Name
	}
	return d.Agent.Token
}

// VersionTag names the version of the robots.txt that judged the request: the
// earlier one by which it was let through, or else the one in force. See
// Policy.Tag.
func (d *Decision) VersionTag() string {
	switch {
	case d.Version != nil:
		return d.Version.Tag()
	case d.Policy != nil:
		return d.Policy.Tag()
	}
	return ""
}

// RuleText returns the rule that decided as a line of robots.txt, "" if none
// did.
func (d *Decision) RuleText() string {
	if d.Rule == nil {
		return ""
	}
	return d.Rule.String()
}
