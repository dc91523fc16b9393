package cli

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// statusOptions are the flags of `caddy robots status`.
type statusOptions struct {
	address, config, adapter, span, name string
	sites                                []string
	limit                                int
	json, strict                         bool
}

func statusCommand(Module) *cobra.Command {
	var o statusOptions
	cmd := NewCommand("status [--strict] [--json] [--address <address>] [--site <host>]...",
		"Shows the state of the robots handlers of a running Caddy", NoArgs, o.status)
	f := cmd.Flags()
	f.StringVar(&o.address, "address", "", "address of the admin endpoint")
	f.StringVarP(&o.config, "config", "c", "", "configuration file that has the address of the admin endpoint")
	f.StringVar(&o.adapter, "adapter", "", "adapter of that configuration file")
	f.StringArrayVar(&o.sites, "site", nil, "site to show: a host, or a pattern as in the Caddyfile; may be repeated")
	f.StringVar(&o.name, "name", "", "show only sites and hosts with this text in their name, in the table of sites")
	f.StringVar(&o.span, "span", statusapi.SpanDay, "period of the counts: hour, day or month")
	f.IntVar(&o.limit, "limit", 10, "maximum number of sites, crawlers, rules, requests and files to show")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.BoolVar(&o.strict, "strict", false, "count the problems of tenants' files, at hosts that only a pattern names")
	return cmd
}

func (o *statusOptions) status(cmd *cobra.Command, _ []string) error {
	switch {
	case o.span != statusapi.SpanHour && o.span != statusapi.SpanDay && o.span != statusapi.SpanMonth:
		return fmt.Errorf("--span %q: want hour, day or month", o.span)
	case o.limit < 1 || o.limit > statusapi.MaxLimit:
		return fmt.Errorf("--limit %d: want 1 to %d", o.limit, statusapi.MaxLimit)
	}
	if o.config == "" && o.address == "" {
		if _, err := os.Stat(DefaultConfig); err == nil {
			o.config = DefaultConfig // like caddy reload
		}
	}
	if _, err := os.Stat(o.config); err != nil && o.config != "" && o.config != "-" {
		return err
	}
	caddy.BufferedLog() // Caddy logs which configuration file it reads; standard error is for problems
	address, err := caddycmd.DetermineAdminAPIAddress(o.address, nil, o.config, o.adapter)
	if err != nil {
		return err
	}
	s, err := o.ask(address)
	if err != nil {
		return err
	}
	if !o.strict {
		demote(&s.Health)
	}
	out := cmd.OutOrStdout()
	alarming := slices.ContainsFunc(s.Health.Problems, func(p statusapi.Problem) bool {
		return p.Severity == statusapi.Severe || p.Severity == statusapi.Warning && (statusapi.IsUnmeant(p.Kind) || p.IsAccident())
	})
	return cmp.Or(o.print(out, s), FindingIf(alarming))
}

// demote makes notes of the problems that the operator of the server can't mend.
func demote(h *statusapi.Health) {
	var notes []statusapi.Problem
	h.Problems = slices.DeleteFunc(h.Problems, func(p statusapi.Problem) bool {
		if p.Tenant || p.Severity == statusapi.Remark {
			p.Severity = statusapi.Remark
			notes = append(notes, p)
			return true
		}
		return false
	})
	h.OK = len(h.Problems) == 0
	h.Problems = append(h.Problems, notes...)
}

// maxStatus is the maximum size of an answer, in octets.
const maxStatus = 64 << 20

// ask queries a running Caddy.
func (o *statusOptions) ask(address string) (*statusapi.Status, error) {
	values := url.Values{"limit": {fmt.Sprint(o.limit)}, "span": {o.span}, "name": {o.name}, "site": o.sites}
	resp, err := caddycmd.AdminAPIRequest(address, http.MethodGet, "/robots/?"+values.Encode(), nil, nil)
	if err != nil {
		if text := err.Error(); strings.HasPrefix(text, "performing request:") {
			return nil, fmt.Errorf("no answer from Caddy at %s (%s).\n"+
				"If it does not run, start it: systemctl start caddy, or caddy run.\n"+
				"If it does, name its admin endpoint with --address HOST:PORT,\n"+
				"or the configuration that has it with --config FILE",
				address, text[strings.LastIndex(text, ": ")+2:])
		}
		return nil, fmt.Errorf("asking Caddy's admin endpoint at %s: %w", address, err)
	}
	defer resp.Body.Close()
	s := &statusapi.Status{Summary: new(statusapi.Summary)}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxStatus)).Decode(s); err != nil {
		return nil, fmt.Errorf("the answer of the admin endpoint at %s is not JSON: %w", address, err)
	}
	return s, nil
}

//go:embed status.txt
var statusTemplate string

// print writes a report. It escapes control characters from clients.
func (o *statusOptions) print(w io.Writer, s *statusapi.Status) error {
	if o.json {
		return NewEncoder(w).Encode(s)
	}
	total := s.Crawlers.In(o.span)
	monitored := total.WouldDeny+total.WouldThrottle > 0 ||
		s.Modes[statusapi.Monitor]+s.Modes[statusapi.Both] > 0
	var advised []string
	counts := func(w statusapi.Windows[statusapi.Counts]) statusapi.Counts { return *w.In(o.span) }
	return Layout{Paint: PaintFor(w), Narrow: IsTerminal(w)}.Execute(w, statusTemplate, template.FuncMap{
		"span":      func() string { return o.span },
		"monitored": func() bool { return monitored },
		"refused": func(enforced, monitored string) string { // what refused nothing is not called so
			isQuiet := s.Crawlers.Total.Denied+s.Crawlers.Total.Throttled == 0
			if isQuiet && s.Modes[statusapi.Monitor] > 0 && s.Modes[statusapi.Enforce]+s.Modes[statusapi.Both] == 0 {
				return monitored
			}
			return enforced
		},
		"counts":   counts,
		"in":       func(w statusapi.Windows[uint64]) uint64 { return *w.In(o.span) },
		"requests": func(n uint64) string { return fmt.Sprintf("%d %s", n, english.PluralWord(int(n), "request", "")) },
		"minute":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"reasons":  func(action string, total uint64) string { return reasonsOf(s.Reasons, o.span, action, total) },
		"allSites": func() (n int) {
			for _, sites := range s.Modes {
				n += sites
			}
			return n
		},
		"grace": func(all []statusapi.Origin) []statusapi.Origin {
			return slices.DeleteFunc(slices.Clone(all), func(p statusapi.Origin) bool { return len(p.Grace) == 0 })
		},
		"partOf":   partOf,
		"refusals": statusapi.Refused,
		"upper":    strings.ToUpper,
		"verified": verifiedShare,
		"line":     lineOf,
		"list":     func(tokens []string) string { return words.List(tokens, 3) },
		"advice": func(text string) string { // once for all problems that have it
			if slices.Contains(advised, text) {
				return ""
			}
			advised = append(advised, text)
			return text
		},
		"message": func(p statusapi.Origin) string { return messageOf(p, s.Health.Problems) },
		"first": func(p statusapi.Problem) statusapi.Action {
			if len(p.Actions) == 0 || p.Actions[0].Text == "" {
				return statusapi.Action{}
			}
			return statusapi.Action{What: p.Actions[0].What + ":", Text: strings.ReplaceAll(p.Actions[0].Text, "\t", "    ")}
		},
		"lines": func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }) },
	}, s)
}

// messageOf returns what the tables and the problems do not say of a file, "" if that is nothing.
func messageOf(p statusapi.Origin, problems []statusapi.Problem) string {
	plain := p.OK && p.State == judge.Loaded.String() && !strings.Contains(p.Message, ";")
	if plain || slices.ContainsFunc(problems, func(one statusapi.Problem) bool { return one.Message == p.Message }) {
		return ""
	}
	return p.Message
}

// isPace reports whether a reason counts as pace.
func isPace(reason string) bool {
	r, known := judge.ReasonNamed(reason)
	return known && r.Info().Field != ""
}

// reasonsOf returns the number of requests with an action, and by reason.
func reasonsOf(list []statusapi.ReasonCounts, span, action string, total uint64) string {
	numbers := make(map[string]uint64)
	for _, r := range list {
		switch {
		case strings.Replace(r.Action, "challenge", "throttle", 1) != action || *r.In(span) == 0: // these count as throttled
		case isPace(r.Reason):
			numbers["pace"] += *r.In(span)
		default:
			numbers[r.Reason] += *r.In(span)
		}
	}
	var parts []string
	for _, reason := range slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		return cmp.Or(cmp.Compare(numbers[b], numbers[a]), strings.Compare(a, b))
	}) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, numbers[reason]))
	}
	if len(parts) == 0 {
		return fmt.Sprint(total)
	}
	return fmt.Sprintf("%d: %s", total, strings.Join(parts, ", "))
}

// partOf says that a table has only n of total rows.
func partOf(n, total int) string {
	if n < total {
		return fmt.Sprintf(" (%d of %d)", n, total)
	}
	return ""
}

// lineOf returns the place of a line: in the site's robots.txt, or in the configuration
// for the text of source inline, the lines of a policy and hidden paths.
func lineOf(layer, file string, line int) string {
	if line == 0 {
		return "-"
	}
	if layer == "file" {
		file = cmp.Or(file, "robots.txt")
	}
	return fmt.Sprintf("%s:%d", Visible(cmp.Or(file, "configuration")), line)
}

// verifiedShare returns the share of verified requests among those that could be
// verified.
func verifiedShare(c statusapi.Counts) string {
	claims := c.Verified + c.Unverified + c.Impostors
	if claims == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", c.Verified*100/claims)
}
