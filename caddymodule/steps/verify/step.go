// Package verify is the step that checks what clients claim to be, with enforce/verify, and
// the command that checks an address.
package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

func init() {
	caddy.RegisterModule(new(Verify))
	step.ReportProblems(problems)
	cli.Add(help, newCommand)
}

// impostorsIgnore is the value of Verify.Impostors that is not the default.
const impostorsIgnore = "ignore"

var impostorActions = lines.Choices{"deny", impostorsIgnore}

// Verify checks whether a client is the crawler that its User-Agent names. Default: off,
// because it sends requests to the servers of crawlers' operators and to DNS.
//
//	verify {
//		impostors ignore
//		resolver 10.0.0.53
//	}
type Verify struct {
	// `deny`: impostors get 403 for everything except /robots.txt and exempt paths. `ignore`:
	// they get the rules of the crawler that they name, and share one budget. Default: `deny`.
	Impostors string `json:"impostors,omitempty"`

	// The DNS server for reverse DNS: an IP address, with or without a port. Default: the
	// system's.
	Resolver string `json:"resolver,omitempty"`

	// Whether published lists of addresses are used. Default: true.
	Lists *bool `json:"lists,omitempty"`

	// Whether forward-confirmed reverse DNS is used. Default: true.
	DNS *bool `json:"dns,omitempty"`

	// Whether signatures (Web Bot Auth, RFC 9421) are used. Default: true.
	Signatures *bool `json:"signatures,omitempty"`

	ctx      caddy.Context
	site     step.Site
	verifier *verifier
	shared.User
}

// CaddyModule returns the Caddy module information.
func (*Verify) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.verify", New: func() caddy.Module { return new(Verify) }}
}

// Info implements step.Step.
func (*Verify) Info() step.Info {
	return step.Info{
		Stage:   step.Identify,
		Matches: []string{"verified", "impostor"},
	}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	verify {
//		impostors  deny | ignore
//		resolver   <address>
//		lists      [on|off]
//		dns        [on|off]
//		signatures [on|off]
//	}
func (v *Verify) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	head, args := *d, d.RemainingArgs()
	if len(args) > 0 && slices.Contains([]string{"on", "true", "yes"}, args[0]) {
		return lines.Place(&head, fmt.Errorf("verify %s: write verify alone, which switches it on", args[0]))
	}
	if err := lines.NoValues("verify", args); err != nil {
		return lines.Place(&head, err)
	}
	p := lines.Parser{Dispenser: d}
	return p.Block(lines.Table{
		"impostors":  lines.Choice(&v.Impostors, impostorActions),
		"resolver":   lines.Text(&v.Resolver),
		"lists":      lines.OnOff(&v.Lists),
		"dns":        lines.OnOff(&v.DNS),
		"signatures": lines.OnOff(&v.Signatures),
	}, v.check)
}

// check returns an error for values that can't be used, but for a resolver with placeholders.
func (v *Verify) check() error {
	if !strings.Contains(v.Resolver, "{") {
		if _, _, err := v.resolver(); err != nil {
			return err
		}
	}
	return impostorActions.Check("verify impostors", v.Impostors)
}

// resolver returns the resolver for reverse DNS, and the address of its server.
func (v *Verify) resolver() (resolver verify.Resolver, server string, err error) {
	server, err = lines.Replace(v.Resolver)
	if err == nil {
		resolver, err = verify.NewServerResolver(server)
	}
	return resolver, server, lines.About("verify resolver:", err)
}

// isOn reports whether a setting is on, which is the default.
func isOn(setting *bool) bool { return setting == nil || *setting }

// Provision implements caddy.Provisioner.
func (v *Verify) Provision(ctx caddy.Context) error {
	v.ctx = ctx
	return nil
}

// Join implements step.Step. The verifier outlives the configuration.
func (v *Verify) Join(site step.Site) error {
	v.site = site
	resolver, server, err := v.resolver()
	if err == nil {
		err = v.check()
	}
	if err != nil {
		return err
	}
	cfg := verify.Config{Resolver: resolver, Lists: isOn(v.Lists), DNS: isOn(v.DNS), Signatures: isOn(v.Signatures), Now: clock.Now}
	key := fmt.Sprintf("verifier:%s:%t:%t:%t", server, cfg.Lists, cfg.DNS, cfg.Signatures)
	v.verifier = shared.Use(&v.User, key, func() *verifier { return newVerifier(cfg) })
	return nil
}

// Start implements step.Starter: the verifier uses the network from now on.
func (v *Verify) Start() { v.verifier.Start(v.ctx.Storage(), v.site.Log.Named("verify")) }

// Verification implements step.Verifier.
func (v *Verify) Verification() judge.Verification {
	return judge.Verification{IgnoreImpostors: v.Impostors == impostorsIgnore, Signatures: isOn(v.Signatures)}
}

// Bind implements step.Verifier.
func (v *Verify) Bind(registry *crawler.Registry) (judge.Checker, func(), error) {
	checker, err := v.verifier.Bind(registry)
	if err != nil {
		return nil, nil, err
	}
	return checker, checker.Close, nil
}

// Interface guards
var (
	_ caddy.Provisioner  = (*Verify)(nil)
	_ caddy.CleanerUpper = (*Verify)(nil)
	_ step.Step          = (*Verify)(nil)
	_ step.Starter       = (*Verify)(nil)
	_ step.Verifier      = (*Verify)(nil)
	_ step.Viewer        = (*Verify)(nil)
)
