package verdict

import (
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Verdict is what was decided about a request, and by which line.
type Verdict struct {
	Action string `json:"action"` // see ActionName
	Reason string `json:"reason"` // such as disallowed
	Group  string `json:"group"`  // the product token of the group that applies; "" if none does
	Rule   string `json:"rule"`   // the line that decided, such as "Disallow: /private/"; "" if none did, or for a hidden path
	Layer  string `json:"layer"`  // file, policy, hidden, shed or limit; "" if no line decided
	Line   int    `json:"line"`   // in the site's robots.txt or, for other layers than file, in the configuration; 0 if no line decided
	File   string `json:"file"`   // the name of the file that has Line; "" if it is not known
}

// Place returns the line that decided, such as "line 2 of robots.txt: Disallow: /private/";
// "" if none did.
func (v *Verdict) Place() string {
	if v.Line == 0 {
		return v.Rule
	}
	file := v.File
	if file == "" && v.Layer == judge.FileLayer.String() {
		file = "robots.txt"
	}
	return strings.TrimSuffix(placeOf(v.Line, file)+": "+v.Rule, ": ")
}

// Decision is a Verdict, and about whom it is.
type Decision struct {
	Crawler  string `json:"crawler"` // the name in the registry, or the product token that the client sent
	Class    string `json:"class"`   // that the User-Agent gives the client
	Evidence string `json:"evidence"`
	Purpose  string `json:"purpose"`          // the main one; "" if it is not known
	Verified string `json:"verified"`         // none, verified, unverified or impostor
	Verify   string `json:"verify,omitempty"` // see Verification
	Verdict
	Version   string `json:"version"`              // tag of the robots.txt that decided; "" without a file
	GraceEnds string `json:"grace_ends,omitempty"` // RFC 3339, for the reason grace; else absent
}

// Of returns the form of a decision. Its strings may be parts of the rules, and of the
// User-Agent.
func Of(d *judge.Decision) Decision {
	return Decision{
		Crawler: d.Name(), Class: Class(d), Evidence: string(d.Agent.Reason.Strength()), Purpose: Purpose(d), Verified: d.Claim.State.String(),
		Verify: Verification(d),
		Verdict: Verdict{
			Action: ActionName(d.Action, d.Monitored), Reason: d.Reason.String(), Group: d.GroupToken(), Rule: d.RuleText(),
			Layer: d.Layer.String(), Line: d.Line, File: d.File(),
		},
		Version: d.VersionTag(), GraceEnds: GraceEnds(d),
	}
}

// ActionName returns the name of an action: pass, deny, throttle or challenge, or in
// monitor mode would_deny, would_throttle or would_challenge.
func ActionName(a judge.Action, monitored bool) string {
	switch {
	case monitored && a == judge.Deny:
		return "would_deny"
	case monitored && a == judge.Throttle:
		return "would_throttle"
	case monitored && a == judge.Ask:
		return "would_challenge"
	}
	return a.String()
}

// Class returns the class of the client. It is the one that the User-Agent gives, also
// for a probe that requests too many paths, which is bound as a self-declared crawler.
func Class(d *judge.Decision) string { return d.Agent.SentClass().String() }

// Purpose returns the main purpose of the crawler, "" if it is not known.
func Purpose(d *judge.Decision) string {
	if d.Agent.Crawler == nil {
		return ""
	}
	return string(d.Agent.Crawler.Purpose())
}

// Verification says what verified a claim (list, dns or signature), or why it is
// unverified, as signature_missing or signature_wrong; "" for all others.
func Verification(d *judge.Decision) string {
	switch d.Claim.State {
	case claim.Verified:
		return d.Claim.Method.String()
	case claim.Unverified:
		return string(d.Claim.Reason)
	}
	return ""
}

// GraceEnds returns the time at which grace ends at the latest, for a request that
// passes by grace; "" for all others.
func GraceEnds(d *judge.Decision) string {
	if d.Version == nil {
		return ""
	}
	return d.Version.Ends().UTC().Format(time.RFC3339)
}
