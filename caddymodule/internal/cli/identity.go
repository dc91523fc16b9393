package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// identified is the output of identify for one User-Agent.
type identified struct {
	UserAgent string               `json:"user_agent"`
	Class     string               `json:"class"`
	Crawlers  []identifiedCrawler  `json:"crawlers,omitempty"`
	Browser   *crawler.Description `json:"browser,omitempty"` // only for a person
	Words     []evidence           `json:"words,omitempty"`   // only for a person
}

// identifiedCrawler is one of the crawlers that a User-Agent names.
type identifiedCrawler struct {
	Crawler   string   `json:"crawler"`
	Class     string   `json:"class"`
	Operator  string   `json:"operator,omitempty"`
	Purpose   string   `json:"purpose,omitempty"`
	Tokens    []string `json:"tokens"`
	HeldTo    string   `json:"would_apply,omitempty"` // without a robots.txt
	Group     string   `json:"group,omitempty"`       // with one
	GroupLine int      `json:"group_line,omitempty"`
	evidence
}

// evidence is a part of a User-Agent, its position in octets, and its meaning.
type evidence struct {
	Text     string `json:"evidence"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	Says     string `json:"reason"`
	Strength string `json:"strength,omitempty"` // of a crawler: "token", "declaration" or "form"
}

// String returns the evidence as text.
func (e evidence) String() string {
	if e.Start == e.End {
		return e.Says
	}
	return fmt.Sprintf("%q at %d-%d: %s", e.Text, e.Start, e.End, e.Says)
}

// strengths describes each strength of evidence.
var strengths = map[string]string{
	"token":       "token: the name of a crawler in the registry or in robots.txt",
	"declaration": "declaration: the client says that it is a robot",
	"form":        "form: only the form of the User-Agent",
}

// write prints the result as text. Control characters from clients are escaped.
func (f *identified) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n", report.Visible(f.UserAgent))
	if f.Browser != nil {
		fmt.Fprintf(w, "    person: %s\n", report.Visible(browserWords(f.Browser)))
		writeReasons(w, f.Words)
	}
	for _, c := range f.Crawlers {
		facts := []string{cmp.Or(c.Crawler, "(no User-Agent)"), c.Operator, c.Purpose}
		facts = slices.DeleteFunc(facts, func(s string) bool { return s == "" })
		fmt.Fprintf(w, "    %s: %s\n", c.Class, report.Visible(strings.Join(facts, ", ")))
		if tokens := strings.Join(c.Tokens, ", "); tokens != "" {
			fmt.Fprintf(w, "        tokens   %s\n", report.Visible(tokens))
		}
		fmt.Fprintf(w, "        obeys    %s\n", report.Visible(c.group()))
		writeReasons(w, []evidence{c.evidence})
		fmt.Fprintf(w, "        evidence %s\n", strengths[c.Strength])
	}
}

// writeReasons prints the reasons for a result.
func writeReasons(w io.Writer, why []evidence) {
	label := "reason"
	for _, e := range why {
		fmt.Fprintf(w, "        %-7s  %v\n", label, e)
		label = ""
	}
}

// group returns the group that applies, or would apply, to a crawler.
func (c *identifiedCrawler) group() string {
	switch {
	case c.HeldTo != "":
		return c.HeldTo
	case c.Group != "":
		return fmt.Sprintf("group %s, line %d", c.Group, c.GroupLine)
	default:
		return "nothing"
	}
}

// browserWords returns the browser, the operating system and the like that a
// User-Agent names.
func browserWords(d *crawler.Description) string {
	name := strings.TrimSpace(d.Browser + " " + d.BrowserVersion)
	if d.Browser == crawler.UnknownPart {
		name = "unknown browser or app"
	}
	if d.System != crawler.UnknownPart {
		name += " on " + d.System
	}
	if d.Device != "" {
		name += ", " + d.Device
	}
	if d.Mobile {
		name += ", mobile"
	}
	return name
}
