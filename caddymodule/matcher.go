package caddymodule

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

func init() {
	caddy.RegisterModule(new(MatchRobots))
}

// MatchRobots matches requests of crawlers by their name, purpose, class,
// operator or verification. Without any field it matches all requests of
// crawlers: of every client that is not a person, so also of HTTP libraries such as
// curl, of programs, probes and webhooks. Otherwise every given field must match, and a
// list matches if one of its values does.
//
// Behind a robots handler the matcher uses the result of that handler. Elsewhere
// it looks the User-Agent up in the built-in registry, the list of known crawlers
// that comes with the plugin. One that no robots handler of the server can make match,
// such as `busy` without `shed`, is an error.
type MatchRobots struct {
	// Crawlers with one of these names or tokens in the registry, such as `Googlebot`.
	Crawler []string `json:"crawler,omitempty"`

	// Crawlers with one of these purposes, main or not, or one that a `crawler` block defines.
	// Crawlers of search engines match only `search`.
	Purpose []string `json:"purpose,omitempty"`

	// Clients of one of these classes, such as `library`; not `person`.
	Class []string `json:"class,omitempty"`

	// Crawlers of these operators, as the registry names them.
	Operator []string `json:"operator,omitempty"`

	// Crawlers that `verify` has confirmed.
	Verified bool `json:"verified,omitempty"`

	// Clients that `verify` found to be impostors. With `impostors deny`, only error routes
	// get them.
	Impostor bool `json:"impostor,omitempty"`

	// Requests, of people too, for URLs that robots.txt disallows in the group for `*`.
	Disallowed bool `json:"disallowed,omitempty"`

	// Requests, of people too, that come while `shed` finds the server busy.
	Busy bool `json:"busy,omitempty"`

	// Clients that `challenge` would ask, with `answer challenge mark`; alone, or with
	// `disallowed` and `busy`.
	Stranger bool `json:"stranger,omitempty"`

	bare *judge.Rules // see bareRules
}

// CaddyModule returns the Caddy module information.
func (*MatchRobots) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.matchers.robots", New: func() caddy.Module { return new(MatchRobots) }}
}

// UnmarshalCaddyfile sets up the matcher. Syntax:
//
//	@name robots [crawler|purpose|class|operator <values...> | disallowed | stranger | busy | verified | impostor]
//	@name robots {
//		crawler  <names...>
//		purpose  <purposes...>
//		class    <classes...>
//		operator <operators...>
//		disallowed
//		stranger
//		busy
//		verified
//		impostor
//	}
func (m *MatchRobots) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		err := m.setAll(d.RemainingArgs())
		for err == nil && d.NextBlock(0) {
			err = m.setAll(append([]string{d.Val()}, d.RemainingArgs()...))
		}
		if err != nil {
			return d.WrapErr(err)
		}
	}
	if err := m.validate(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// fields returns the fields by name: lists of values and flags.
func (m *MatchRobots) fields() map[string]any {
	return map[string]any{
		"crawler": &m.Crawler, "purpose": &m.Purpose, "class": &m.Class, "operator": &m.Operator,
		"disallowed": &m.Disallowed, "stranger": &m.Stranger, "busy": &m.Busy, "verified": &m.Verified, "impostor": &m.Impostor,
	}
}

// set sets the field that words begin with to the values that follow. It returns the
// words that are no values of the field.
func (m *MatchRobots) set(words []string) (rest []string, err error) {
	name, values := words[0], words[1:]
	switch field := m.fields()[name].(type) {
	case *bool:
		*field = true
		return values, nil
	case *[]string:
		if len(values) == 0 {
			return nil, fmt.Errorf("%s needs at least one value", name)
		}
		*field = append(*field, values...)
		return nil, nil
	}
	return nil, fmt.Errorf("unknown field %q: want one of %s", name, strings.Join(slices.Sorted(maps.Keys(m.fields())), ", "))
}

// setAll sets fields one after the other.
func (m *MatchRobots) setAll(words []string) (err error) {
	for err == nil && len(words) > 0 {
		words, err = m.set(words)
	}
	return err
}

// Provision validates the matcher and prepares the built-in registry.
func (m *MatchRobots) Provision(ctx caddy.Context) error {
	if err := m.validate(); err != nil {
		return err
	}
	for _, p := range m.Purpose {
		if !slices.Contains(crawler.Builtin().Purposes(), crawler.Purpose(p)) {
			ctx.Logger().Warn("no crawler in the built-in registry has this purpose: "+
				"the matcher only matches behind a robots handler that adds such a crawler", zap.String("purpose", p))
		}
	}
	if m.Disallowed {
		app, err := ctx.App("robots")
		if err != nil {
			return err
		}
		app.(*App).rulesWanted.Store(true)
	}
	var err error
	m.bare, err = bareRules()
	return err
}

// bareRules are the rules of a site without a robots.txt.
var bareRules = sync.OnceValues(func() (*judge.Rules, error) {
	return judge.Settings{ID: "robots matcher", Registry: crawler.Builtin()}.Rules(judge.Response{Status: http.StatusNotFound})
})

// bareChecks are reused, so that a match allocates nothing.
var bareChecks = sync.Pool{New: func() any { return new(bareCheck) }}

type bareCheck struct {
	judge.Request
	judge.Decision
}

// validate returns an error for values that can never match.
func (m *MatchRobots) validate() error {
	for _, c := range m.Class {
		if !slices.Contains(classNames, c) {
			return fmt.Errorf("class %q: want one of %s", c, strings.Join(classNames, ", "))
		}
	}
	if m.Verified && m.Impostor {
		return errors.New("verified and impostor: no client is both")
	}
	if m.Stranger && m.namesCrawlers() {
		return errors.New("stranger can be combined with disallowed and busy only: " +
			"such a client sends a browser's User-Agent, not a crawler's name")
	}
	for _, p := range m.Purpose {
		if err := config.CheckPurpose(p); err != nil {
			return err
		}
	}
	return nil
}

// classNames are the classes of clients that are not people.
var classNames = func() (names []string) {
	for c := crawler.Person + 1; c <= crawler.Library; c++ {
		names = append(names, c.String())
	}
	return names
}()

// MatchWithError reports whether the request matches.
func (m *MatchRobots) MatchWithError(r *http.Request) (bool, error) {
	if m.Disallowed {
		rules, _ := caddyhttp.GetVar(r.Context(), rulesVar).(*judge.Rules)
		if rules == nil || !rules.DisallowsStar(originalTarget(r)) {
			return false, nil
		}
	}
	if m.Busy && caddyhttp.GetVar(r.Context(), busyVar) == nil {
		return false, nil
	}
	if m.Stranger && caddyhttp.GetVar(r.Context(), strangerVar) == nil {
		return false, nil
	}
	if (m.Disallowed || m.Busy || m.Stranger) && !m.namesCrawlers() {
		return true, nil
	}
	if rec := recordOf(r); rec != nil {
		return !rec.isPerson() && m.matchesClaim(rec.Claim.State) && m.matchesAgent(&rec.Agent), nil
	}
	if m.Verified || m.Impostor {
		return false, nil // no robots handler has verified the client
	}
	check := bareChecks.Get().(*bareCheck)
	defer bareChecks.Put(check)
	check.Request = judge.Request{Method: r.Method, Target: "/", UserAgents: r.Header["User-Agent"], Brands: r.Header["Sec-Ch-Ua"]}
	m.bare.Check(&check.Request, &check.Decision)
	agent := &check.Decision.Agent
	return agent.Class != crawler.Person && m.matchesAgent(agent), nil
}

// namesCrawlers reports whether a field restricts the match to crawlers.
func (m *MatchRobots) namesCrawlers() bool {
	return len(m.Crawler)+len(m.Purpose)+len(m.Class)+len(m.Operator) > 0 || m.Verified || m.Impostor
}

// matchesClaim reports whether the result of verification is the wanted one.
func (m *MatchRobots) matchesClaim(s claim.State) bool {
	return (!m.Verified || s == claim.Verified) && (!m.Impostor || s == claim.Impostor)
}

// matchesAgent reports whether an agent has one of the values of each list.
func (m *MatchRobots) matchesAgent(a *crawler.Agent) bool {
	var name, operator string
	if a.Crawler != nil {
		name, operator = a.Crawler.Name, a.Crawler.Operator
	}
	return (len(m.Crawler) == 0 || words.ContainsFold(m.Crawler, name) || words.ContainsFold(m.Crawler, a.Token)) &&
		(len(m.Purpose) == 0 || a.Crawler != nil && slices.ContainsFunc(m.Purpose,
			func(p string) bool { return a.Crawler.CountsAs(crawler.Purpose(p)) })) &&
		(len(m.Class) == 0 || slices.Contains(m.Class, a.SentClass().String())) &&
		(len(m.Operator) == 0 || words.ContainsFold(m.Operator, operator))
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchRobots)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchRobots)(nil)
	_ caddyfile.Unmarshaler             = (*MatchRobots)(nil)
	_ caddyhttp.CELLibraryProducer      = (*MatchRobots)(nil)
)

// CELLibrary makes the matcher available in expressions:
//
//	expression robots('purpose', 'ai-training', 'ai-data') || robots('disallowed')
func (*MatchRobots) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return caddyhttp.CELMatcherImpl("robots", "robots_match_request_list", []*cel.Type{cel.ListType(cel.StringType)},
		func(data ref.Val) (caddyhttp.RequestMatcherWithError, error) {
			words, err := data.ConvertToNative(reflect.TypeFor[[]string]())
			if err != nil {
				return nil, err
			}
			m, err := newMatchRobots(words.([]string))
			if err != nil {
				return nil, err
			}
			return m, m.Provision(ctx)
		})
}

// newMatchRobots returns the matcher for the arguments of robots() in an
// expression: the name of a field and its values.
func newMatchRobots(words []string) (*MatchRobots, error) {
	m := new(MatchRobots)
	if len(words) == 0 {
		return m, nil
	}
	rest, err := m.set(words)
	switch {
	case err != nil:
		return nil, fmt.Errorf("robots: %w", err)
	case len(rest) > 0:
		return nil, fmt.Errorf("robots: %s takes no value", words[0])
	}
	return m, nil
}
