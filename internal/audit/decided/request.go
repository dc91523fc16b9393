package decided

import (
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Query selects the requests of a report.
type Query struct {
	audit.Options
	Clients  []netip.Prefix // addresses of clients; none: all
	From, To time.Time      // only requests from From on and before To; zero: at any time
}

// selects reports whether a request comes from one of q.Clients, at the time of q.
func (q *Query) selects(e *logformat.Entry) bool {
	if !q.From.IsZero() && (e.Time().Before(q.From) || !e.Time().Before(q.To)) {
		return false
	}
	addr, err := netip.ParseAddr(e.Client)
	return len(q.Clients) == 0 ||
		err == nil && slices.ContainsFunc(q.Clients, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// Request is a request of a log.
type Request struct {
	Time   string            `json:"time"` // in UTC, with milliseconds; "" if the log has none
	Host   string            `json:"host"`
	Client string            `json:"client"`
	Port   string            `json:"remote_port"` // of the client; "" if the log does not have it
	Method string            `json:"method"`
	Target string            `json:"target"` // path and query; the values of the query are masked
	Agent  string            `json:"user_agent"`
	Status int               `json:"status"`
	Log    string            `json:"log"`
	Line   int64             `json:"log_line"` // from 1
	Robots *verdict.Decision `json:"robots"`   // nil if the log has no decision, as for browsers and apps
}

// newRequest returns a request that shares no memory with the log. With a nil decision, it has none.
func newRequest(j *audit.Judged, client, target mask.Masker, d *verdict.Decision) Request {
	e := &j.Log.Entry
	r := Request{
		Time: stamp(e), Host: j.Host, Client: client.Client(mask.Shortened(e.Client)), Method: mask.Shortened(e.Method),
		Target: target.Target(e.Target), Agent: mask.Shortened(e.UserAgent()), Status: e.Status, Log: j.Log.Name, Line: j.Log.Number, Robots: d,
	}
	if client.Full && (e.Remote == "" || e.Remote == e.Client) { // else it is the port of a proxy
		r.Port = mask.Shortened(e.Port)
	}
	if d != nil && d.Layer == managed.HiddenLayer.String() && !target.Full { // hidden paths must not be shown
		r.Target = mask.Hidden
	}
	return r
}

// millis is the form of times: UTC with milliseconds.
const millis = "2006-01-02T15:04:05.000Z"

// stamp returns the time of a request, "" if the log has none.
func stamp(e *logformat.Entry) string {
	if !e.Timed {
		return ""
	}
	return e.Time().Format(millis)
}

// maxDecision is the largest size of the JSON of a decision, in octets.
const maxDecision = 4096

// logged returns the decision that Caddy's log has of the current request; nil if it has none.
func logged(j *audit.Judged) *verdict.Decision {
	d := new(verdict.Decision)
	if b := j.Log.Entry.Robots; len(b) == 0 || len(b) > maxDecision || json.Unmarshal(b, d) != nil || d.Action == "" {
		return nil
	}
	if d.Layer == judge.FileLayer.String() {
		d.File = "robots.txt"
	}
	return d
}

// notes returns the warnings of an audit about the logs, without those about its verdicts.
func notes(r *audit.Report) []string {
	list := []string{}
	for _, w := range r.Warnings {
		if !slices.Contains([]string{"no_robots", "partly_judged", "coarse_times", "no_bodies"}, w.Code) {
			list = append(list, w.Text)
		}
	}
	return list
}
