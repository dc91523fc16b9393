package managed

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/internal/preference"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// maxPath is the largest number of octets of a path.
const maxPath = 2048

// check checks each statement of its own, and the paths of `deny` and `hidden` together.
func (c *compiler) check() {
	for name, line := range values(c.given.Presets) {
		if _, ok := presets[name]; !ok {
			c.errorf(line, "unknown preset %q (the presets are %s)%s", name, strings.Join(PresetNames(), " and "), suggestion(name, PresetNames()))
		}
	}
	for _, d := range c.given.Deny {
		if len(d.Values) == 0 {
			c.errorf(d.Line,
				"deny names no purpose and no crawler: to deny a path to every crawler, write it in robots.txt below \"User-agent: *\", or use hidden")
		}
		for _, path := range d.Paths {
			c.checkPath("deny", path, d.Line)
			c.checkPublished(path, d.Line)
		}
	}
	for name, line := range values(c.given.Deny) {
		c.checkName("deny", name, line, true)
	}
	for _, s := range slices.Concat(c.given.Presets, c.given.Allow, c.given.Signal, c.given.Usage, c.given.License) {
		if len(s.Paths) > 0 {
			c.errorf(s.Line, "only deny and hidden have paths")
		}
	}
	c.checkPreferences("signal", c.policy.Signal, preference.ContentSignal)
	c.checkPreferences("usage", c.policy.Usage, preference.ContentUsage)
	for address, line := range values(c.given.License) {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(address, " \t\r\n#") {
			c.errorf(line, "license %q must be an absolute http or https URL without white space and #", address)
		}
	}
	for _, h := range c.given.Hidden {
		for _, path := range slices.Concat(h.Values, h.Paths) {
			c.checkPath("hidden", path, h.Line)
		}
	}
}

// checkCovers checks whether each `allow` has an effect, and whether crawlers that a
// `deny` names have their own group.
func (c *compiler) checkCovers() {
	for _, a := range c.policy.Allow {
		if len(a.Values) == 0 {
			c.errorf(a.Line, "allow names no crawler")
		}
	}
	for name, line := range values(c.policy.Allow) {
		if !c.checkName("allow", name, line, false) {
			continue
		}
		row := c.registry.Lookup(name)
		switch cv := &c.covers[row.Index()]; {
		case cv.named.any():
			c.errorf(line, "allow %s contradicts deny %s%s", name, name, atLine(cv.named.line))
		case !cv.byPurpose:
			c.errorf(line, "allow %s has no effect: its purpose, %s, is not denied", name, strings.Join(words.Strings(row.Purposes), ", "))
		}
	}
	for row := range c.registry.All() {
		named := &c.covers[row.Index()].named
		if owner := c.owner(row); named.any() && owner != row {
			c.errorf(named.line, "%s obeys the group of %s and has none of its own: write %s instead", row.Name, owner.Name, owner.Name)
		}
	}
}

// checkName checks the name of a crawler or, if purpose is true, of a crawler
// or a purpose. It reports whether the name is correct.
func (c *compiler) checkName(statement, name string, line int, purpose bool) bool {
	err := c.registry.CheckName(statement, name, purpose)
	if err == nil {
		return true
	}
	if _, unknown := errors.AsType[*crawler.UnknownNameError](err); !unknown {
		c.errorf(line, "%s", err)
	} else if c.unknown == nil {
		c.unknown = &StatementError{Line: line, Message: err.Error(), UnknownName: true}
	}
	return false
}

// checkPath checks a path in robots.txt syntax.
func (c *compiler) checkPath(statement, path string, line int) {
	err := judge.CheckPathPattern(path)
	switch {
	case len(path) > maxPath:
		c.errorf(line, "%s: a path has %d octets: the limit is %d", statement, len(path), maxPath)
	case err != nil && statement == "hidden": // errors are logged, but a hidden path must not be
		c.errorf(line, "hidden: its path must start with / or *, and have no white space and no #: write %%20 and %%23")
	case err != nil:
		c.errorf(line, "%s: %s", statement, err)
	}
}

// checkPublished adds an error for a path that is both denied and hidden,
// because deny publishes it. The error does not contain the path.
func (c *compiler) checkPublished(path string, line int) {
	for _, h := range c.given.Hidden {
		if slices.ContainsFunc(h.Paths, func(hidden string) bool { return strings.TrimRight(hidden, "*") == strings.TrimRight(path, "*") }) {
			c.errorf(line, "deny would publish a path that is hidden%s: hidden already denies it to every crawler", atLine(h.Line))
		}
	}
}

// checkPreferences checks the preferences of a field. Unknown keys are accepted
// unless they look like a misspelling, because both vocabularies grow.
func (c *compiler) checkPreferences(statement string, list []Statement, field string) {
	var keys []string
	for _, s := range preference.Signals {
		if s.Field == field && s.State == preference.Current {
			keys = append(keys, s.Key)
		}
	}
	before := make(map[string]Statement) // by the key
	for text, line := range values(list) {
		key, value, _ := strings.Cut(text, "=")
		known, other := preference.Lookup(field, key), before[key]
		before[key] = Statement{Values: []string{text}, Line: line}
		switch {
		case !isPreferenceWord(key) || !isPreferenceWord(value):
			c.errorf(line, "%s %s: write key=value with letters, digits, - and _", statement, text)
		case known != nil && known.State == preference.Obsolete && known.Instead != "":
			c.errorf(line, "%s %s: the key %s is obsolete: write %s", statement, text, key, known.Instead)
		case known != nil && known.State == preference.Obsolete:
			c.errorf(line, "%s %s: the key %s is obsolete, and no key replaces it: remove it", statement, text, key)
		case known != nil && !slices.Contains(known.Values, value):
			c.errorf(line, "%s %s: the value of %s must be %s", statement, text, key, strings.Join(known.Values, " or "))
		case known == nil && suggestion(key, keys) != "":
			c.errorf(line, "%s: unknown key %q%s", statement, key, suggestion(key, keys))
		case other.Values != nil && other.Values[0] != text:
			c.errorf(line, "%s %s contradicts %s%s", statement, text, other.Values[0], atLine(other.Line))
		}
	}
}

func isPreferenceWord(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// suggestion returns the end of an error that suggests the nearest known word,
// or "".
func suggestion(found string, known []string) string {
	if near := editdistance.Nearest(found, slices.Values(known)); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

func atLine(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d)", line)
}
