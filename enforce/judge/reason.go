package judge

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Action says how to treat a request.
type Action uint8

const (
	Pass     Action = iota // let the request through
	Deny                   // refuse the request, usually with status 403
	Throttle               // refuse the request for now, usually with status 429; the client may repeat it after Decision.RetryAfter
	Ask                    // answer with a page that a browser passes by itself, usually with status 429
)

// String returns the action's name in logs, metrics and placeholders: pass, deny,
// throttle or challenge.
func (a Action) String() string { return [...]string{"pass", "deny", "throttle", "challenge"}[a] }

// Reason is the reason for a decision: one that was registered. What outlives the process
// has the reason's name, since its number may differ in another build.
type Reason uint8

// ReasonInfo describes a Reason.
type ReasonInfo struct {
	// Name is its name in logs, metrics, placeholders and files.
	Name string
	// Action is what it leads to.
	Action Action
	// Meaning says when it is given, for the operator: "a rule disallows the path".
	Meaning string
	// Status and Text are the answer to a refused request, without an Answer of the
	// operator. Status is 0 if requests are not refused, or whoever decides so answers.
	Status int
	Text   string
	// NoCrawling says that the request is let through because it is no crawling. Steps may
	// limit it.
	NoCrawling bool
	// Field is the field of robots.txt about the pace of a crawler whose line decided; ""
	// if it is none.
	Field string
	// Answer says what may replace the answer; nil: nothing.
	Answer *AnswerInfo
}

// AnswerInfo says by what an operator may replace the answer to refused requests, so that
// it does no harm: Google treats 429 and 5xx as signs of an overloaded host and crawls the
// whole host less. It drops a page that answers any other 4xx.
type AnswerInfo struct {
	// Verdict is the name of the replaced answer. Several reasons can have one.
	Verdict string
	// Statuses are those that may be sent; nil: any 4xx other than 429.
	Statuses []int
	// Redirect and Abort say whether the answer may be a redirect, or the end of the
	// connection.
	Redirect, Abort bool
	// Page says that whoever decides so answers: the operator can only replace the page.
	Page bool
	// Line is the line of the configuration without which nothing is answered so; "" if it
	// needs none.
	Line string
}

// Allows reports whether the status may be sent.
func (a *AnswerInfo) Allows(status int) bool {
	if a.Statuses == nil {
		return status >= 400 && status < 500 && status != http.StatusTooManyRequests
	}
	return slices.Contains(a.Statuses, status)
}

// Wanted returns the statuses that may be sent, such as "429 or 503".
func (a *AnswerInfo) Wanted() string {
	if a.Statuses == nil {
		return "4xx other than 429"
	}
	var list []string
	for _, status := range a.Statuses {
		list = append(list, strconv.Itoa(status))
	}
	return strings.Join(list, " or ")
}

// register has the values that were registered, by their numbers.
type register[N ~uint8, T any] struct {
	values []T
	name   func(*T) string
}

// add registers a value. It panics if there is one with its name, or if there are 256.
func (r *register[N, T]) add(value T) N {
	if _, known := r.byName(r.name(&value)); known || len(r.values) > math.MaxUint8 {
		panic(fmt.Sprintf("judge: %q is registered twice, or there are too many", r.name(&value)))
	}
	r.values = append(r.values, value)
	return N(len(r.values) - 1)
}

func (r *register[N, T]) byName(name string) (number N, ok bool) {
	i := slices.IndexFunc(r.values, func(v T) bool { return r.name(&v) == name })
	return N(max(i, 0)), i >= 0
}

// parse is the inverse of the values' String.
func (r *register[N, T]) parse(name []byte, to *N) error {
	number, ok := r.byName(string(name))
	if !ok {
		return fmt.Errorf("judge: %q is not registered", name)
	}
	*to = number
	return nil
}

var (
	reasons = register[Reason, ReasonInfo]{name: func(info *ReasonInfo) string { return info.Name }}
	layers  = register[Layer, LayerInfo]{name: func(info *LayerInfo) string { return info.Name }}
)

// RegisterReason registers a reason. Like RegisterLayer, it may only be called while the
// package of the caller is initialised, and panics if the name is taken.
func RegisterReason(info ReasonInfo) Reason { return reasons.add(info) }

// Reasons returns all reasons, in the order of their numbers, which are 0, 1, 2 …
func Reasons() iter.Seq2[Reason, *ReasonInfo] {
	return func(yield func(Reason, *ReasonInfo) bool) {
		for i := range reasons.values {
			if !yield(Reason(i), &reasons.values[i]) {
				return
			}
		}
	}
}

// ReasonNamed returns the reason with a name.
func ReasonNamed(name string) (r Reason, ok bool) { return reasons.byName(name) }

// Info returns what was registered. The caller must not change it.
func (r Reason) Info() *ReasonInfo { return &reasons.values[r] }

// String returns the reason's name.
func (r Reason) String() string { return r.Info().Name }

// MarshalText returns the reason's name.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (r *Reason) UnmarshalText(name []byte) error { return reasons.parse(name, r) }

// Answers that the operator can replace.
var (
	disallowed  = &AnswerInfo{Verdict: "disallowed", Redirect: true, Abort: true}
	impostor    = &AnswerInfo{Verdict: "impostor", Line: "verify", Redirect: true, Abort: true}
	throttled   = &AnswerInfo{Verdict: "throttled", Statuses: []int{429, 503}}
	pending     = &AnswerInfo{Verdict: "pending", Statuses: []int{429, 503}}
	unavailable = &AnswerInfo{Verdict: "unavailable", Statuses: []int{503}}
)

// Reasons of this package. Person is the zero Reason.
var (
	Person     = RegisterReason(ReasonInfo{Name: "person", Meaning: "a browser or app: robots.txt does not apply"})
	Allowed    = RegisterReason(ReasonInfo{Name: "allowed", Meaning: "no rule disallows the path, and the request keeps to the limits"})
	Exempt     = RegisterReason(ReasonInfo{Name: "exempt", Meaning: "the site's operator exempted the crawler"})
	ExemptPath = RegisterReason(ReasonInfo{Name: "exempt_path", Meaning: "the path is exempt, or /robots.txt"})
	Unbound    = RegisterReason(ReasonInfo{Name: "unbound", Meaning: "no group applies to this client"})
	NoRules    = RegisterReason(ReasonInfo{
		Name: "no_rules", Meaning: "there is no robots.txt, or none could be fetched",
	})
	Graced = RegisterReason(ReasonInfo{
		Name: "grace", Meaning: "an earlier version of the file allows the path, and this crawler may still follow it",
	})
	NotCrawling = RegisterReason(ReasonInfo{
		Name: "not_crawling", Meaning: "a self-declared crawler changes something or sends credentials, and only `*` applies to it",
		NoCrawling: true,
	})
	Disallowed = RegisterReason(ReasonInfo{
		Name: "disallowed", Action: Deny, Meaning: "a rule disallows the path",
		Status: 403, Text: "The robots.txt of this site disallows this URL to your crawler.", Answer: disallowed,
	})
	Impostor = RegisterReason(ReasonInfo{
		Name: "impostor", Action: Deny, Meaning: "the client is not the crawler that it names",
		Status: 403, Text: "Your User-Agent names a crawler that does not come from your address. See the robots.txt of this site.",
		Answer: impostor,
	})
	Unavailable = RegisterReason(ReasonInfo{
		Name: "unavailable", Action: Deny, Meaning: "robots.txt can't be fetched, and `on_error deny` is set",
		Status: 503, Text: "The robots.txt of this site can't be read at present, so crawlers may fetch nothing.", Answer: unavailable,
	})
	RulesPending = RegisterReason(ReasonInfo{
		Name: "pending", Action: Throttle, Meaning: "robots.txt was not fetched yet",
		Status: 429, Text: "The robots.txt of this site has not been read yet.", Answer: pending,
	})
	CrawlDelay = RegisterReason(ReasonInfo{
		Name: "crawl_delay", Action: Throttle, Meaning: "the request came before the Crawl-delay was over",
		Status: 429, Text: "The robots.txt of this site asks your crawler for a longer Crawl-delay.",
		Field: "Crawl-delay", Answer: throttled,
	})
	RequestRate = RegisterReason(ReasonInfo{
		Name: "request_rate", Action: Throttle, Meaning: "the request exceeds a Request-rate",
		Status: 429, Text: "The robots.txt of this site asks your crawler for a lower Request-rate.",
		Field: "Request-rate", Answer: throttled,
	})
	VisitTime = RegisterReason(ReasonInfo{
		Name: "visit_time", Action: Throttle, Meaning: "the request came outside Visit-time",
		Status: 429, Text: "The robots.txt of this site asks your crawler to come at another Visit-time.",
		Field: "Visit-time", Answer: throttled,
	})
)

// Layer is where a line comes from: the site's own file, or a part of the configuration.
// It was registered. As with Reason, only its name outlives the process.
type Layer uint8

// LayerInfo describes a Layer.
type LayerInfo struct {
	// Name is its name in logs, placeholders and files.
	Name string
	// Published says that its lines are in the published robots.txt.
	Published bool
	// ByText says that there may be several lines, which are told apart by their texts.
	ByText bool
	// Secret says that its lines, and the paths of requests that they refuse, are shown to
	// nobody but the operator who asks for them.
	Secret bool
}

// RegisterLayer registers a layer.
func RegisterLayer(info LayerInfo) Layer { return layers.add(info) }

// Info returns what was registered. The caller must not change it.
func (l Layer) Info() *LayerInfo { return &layers.values[l] }

// String returns the layer's name; "" for NoLayer.
func (l Layer) String() string { return l.Info().Name }

// MarshalText returns what String returns.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (l *Layer) UnmarshalText(name []byte) error { return layers.parse(name, l) }

var (
	// NoLayer is the layer of a decision for which no line was the reason.
	NoLayer = RegisterLayer(LayerInfo{})
	// FileLayer stands for the site's own robots.txt.
	FileLayer = RegisterLayer(LayerInfo{Name: "file", Published: true})
)

// Place is a line of the configuration that refuses requests, or asks clients to show that
// they are browsers. It must not be changed while it is used.
type Place struct {
	Layer Layer
	File  string // the name of the configuration file; "" if it is not known
	Line  int    // 0 if it is not known
	Text  string // such as "limit /archive/*: all 30/1m"; "" if it is not shown
}

// String returns the text of the line, and where it is.
func (p *Place) String() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("%s, line %d of %s", p.Text, p.Line, cmp.Or(p.File, "the configuration"))
}

// Refuse turns d into a decision that a line of the configuration made.
func (d *Decision) Refuse(why Reason, at *Place, retryAfter time.Duration) {
	d.Action, d.Reason, d.RetryAfter, d.place = why.Info().Action, why, retryAfter, at
	d.Layer, d.Line = at.Layer, at.Line
	d.Rule, d.Version, d.Reading = robots.Rule{}, nil, 0
}
