package headersimport

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/nameglob"
)

// pattern selects the requests that a line of the configuration is for: those
// that match any of the settings, if agent matches their User-Agent.
type pattern struct {
	settings []headers.Setting // without directives
	agent    string            // regular expression; "": all clients
	except   string            // regular expressions of User-Agents that agent excludes, each after a |
	notes    []Entry           // how the settings differ from the configuration
	unsaid   string            // why there are no settings; "" if there are
}

// everything is the pattern of all requests.
var everything = pattern{settings: []headers.Setting{{Kind: headers.KindName, Pattern: "*"}}}

// of returns the pattern of settings with one of the texts. They are valid only
// if Validate says so.
func of(kind headers.Kind, texts ...string) (p pattern) {
	if kind == headers.KindPath && slices.Contains(texts, "/") {
		return everything
	}
	for _, text := range texts {
		p.settings = append(p.settings, headers.Setting{Kind: kind, Pattern: text})
	}
	return p
}

// unprintable are characters that end a word of a Caddyfile or have a meaning
// there, and that quotes do not protect.
var unprintable = regexp.MustCompile(`[\x00-\x1f\x60\x7f-\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]|\{\$|^<<`)

func unsaid(format string, args ...any) pattern { return pattern{unsaid: fmt.Sprintf(format, args...)} }

func (p pattern) isEverything() bool {
	return len(p.settings) == 1 && p.settings[0] == everything.settings[0]
}

// note returns p with a comment.
func (p pattern) note(missing bool, format string, args ...any) pattern {
	p.notes = append(slices.Clip(p.notes), Entry{Comment: fmt.Sprintf(format, args...), Missing: missing})
	return p
}

// negate returns the pattern of the requests that p does not match.
func (p pattern) negate() pattern {
	if p.unsaid == "" && (p.agent != "" || len(p.settings) != 1) {
		return unsaid("a line of x_robots_tag can exclude only one pattern")
	}
	p.settings = slices.Clone(p.settings)
	for i := range p.settings {
		p.settings[i].Not = !p.settings[i].Not
	}
	return p
}

// and returns the pattern of the requests that both p and q match.
func (p pattern) and(q pattern) pattern {
	r := p
	switch {
	case p.unsaid != "" || q.isEverything() || slices.Equal(p.settings, q.settings):
	case q.unsaid != "" || p.isEverything():
		r = q
	default:
		texts, ok := p.below(q)
		if !ok {
			texts, ok = q.below(p)
		}
		if r = of(headers.KindPath, texts...); !ok || texts == nil {
			r = unsaid("it has two conditions, and a line of x_robots_tag has one pattern")
		}
	}
	if r.agent = p.agent; p.agent == "" {
		r.agent = q.agent
	} else if q.agent != "" {
		r.unsaid = "it has two conditions for the User-Agent"
	}
	r.notes, r.except = slices.Concat(p.notes, q.notes), p.except+q.except
	if len(r.settings) > 0 && r.settings[0].Kind == headers.KindPath && strings.Contains(fmt.Sprint(p.settings, q.settings), "(?i)") {
		r = r.note(true, "only this spelling in upper and lower case")
	}
	return r
}

// root is the pattern of everything as a prefix of paths.
var root = pattern{settings: []headers.Setting{{Kind: headers.KindPath, Pattern: "/"}}}

// below returns the patterns of robots.txt for the paths that p, which must have
// prefixes of paths, and q match.
func (p pattern) below(q pattern) (texts []string, ok bool) {
	for _, a := range p.settings {
		if a.Kind != headers.KindPath || a.Not || strings.Contains(a.Pattern, "*") {
			return nil, false
		}
		if !strings.HasSuffix(a.Pattern, "/") {
			continue // the folder without its slash
		}
		for _, b := range q.settings {
			if b.Kind == headers.KindPath && strings.HasPrefix(b.Pattern, a.Pattern) && !b.Not {
				texts = append(texts, b.Pattern)
				continue
			}
			if rest, found := strings.CutPrefix(b.Pattern, "/*"); found && b.Kind == headers.KindPath && !b.Not && rest != "" && !strings.Contains(a.Pattern, rest[:1]) {
				texts = append(texts, a.Pattern+"*"+rest) // no part of rest is in the folder
				continue
			}
			globs := nameglob.FromRegexp(strings.TrimPrefix(b.Pattern, "(?i)"))
			if b.Kind == headers.KindName {
				globs = []*nameglob.Glob{nameglob.New(b.Pattern)}
			} else if b.Kind != headers.KindRegexp {
				globs = nil
			}
			for _, g := range globs {
				if name := quotePath(g.Suffix); g.Literal {
					texts = append(append(texts, whole(a.Pattern+name)...), whole(a.Pattern+"*/"+name)...)
				} else if g.Prefix == "" && g.OneStar {
					texts = append(texts, whole(a.Pattern+"*"+name)...)
				} else {
					globs = nil
				}
			}
			if globs == nil || b.Not {
				return nil, false
			}
		}
	}
	return texts, texts != nil
}

// matcher returns a function that reports whether p, which selects only some
// requests, matches a path.
func (p pattern) matcher() func(path string) bool {
	rules := slices.Clone(p.settings)
	for i := range rules {
		rules[i].Directives = headers.ReadDirectives("noindex") // any
	}
	table, _ := headers.Compile(rules) // nil matches nothing
	return func(path string) bool {
		match := table.Match(path)
		return !p.isEverything() && !match.Empty() && !p.settings[0].Not
	}
}

// foldersOf returns patterns of robots.txt for the folders in which p matches
// the file with that name.
func (p pattern) foldersOf(name string, matches func(path string) bool) (folders []string) {
	for _, r := range p.settings {
		end := strings.LastIndexByte(r.Pattern, '/') + 1
		switch folder := r.Pattern[:end]; {
		case r.Kind != headers.KindPath && matches("/"+name):
			return whole("*/")
		case r.Kind == headers.KindPath && strings.HasSuffix(r.Pattern, "$") && matches(folder+name):
			if folders = append(folders, whole(folder)...); strings.Contains(r.Pattern[end:], "*") {
				folders = append(folders, whole(folder+"*/")...)
			}
		}
	}
	return folders
}

// whole returns the patterns of robots.txt for a whole path, with any query or
// none.
func whole(path string) []string { return []string{path + "$", path + "?"} }

// pathFolder returns the pattern of the path s, without a slash at its end, and
// the paths below it.
func pathFolder(s string) pattern {
	if s = quotePath(s); strings.HasSuffix(s, "/") {
		return of(headers.KindPath, s)
	}
	return of(headers.KindPath, append(whole(s), s+"/")...)
}

// quotePath converts a path to a pattern in robots.txt syntax. It encodes all
// characters that are special there or in a Caddyfile.
func quotePath(s string) string {
	return strings.NewReplacer("*", "%2A", "$", "%24").Replace((&url.URL{Path: s}).EscapedPath())
}

var plainName = regexp.MustCompile(`^[\w.,=+@()*-]+$`)

// nameGlob returns the pattern of <Files> (apr_fnmatch): a file name with *, ?
// and brackets.
func nameGlob(s string) pattern {
	switch {
	case plainName.MatchString(s) && s != "not" && s != "type" && s != "status":
		return of(headers.KindName, s)
	case !strings.ContainsAny(s, "*?["): // compared as it is
		return of(headers.KindRegexp, "^"+regexp.QuoteMeta(s)+"$")
	case strings.Contains(s, `\`):
		return unsaid("a backslash in %s", clip(s))
	}
	s = strings.NewReplacer(`\*`, ".*", `\?`, ".", `\[!`, "[^", `\[\^`, "[^", `\[`, "[", `\]`, "]").Replace(regexp.QuoteMeta(s))
	return of(headers.KindRegexp, "^(?s)"+s+"$")
}

var (
	anyFolder  = regexp.MustCompile(`^(?:\^?\\?/|\^)?(?:\.[*+]\??|\((?:\?:)?\.[*+]\??\))`)
	slash      = regexp.MustCompile(`^\\?/`)
	leavesName = regexp.MustCompile(`/|\.[*+{]|\[\^|\\[DSW]|\)[*+{]|^\^`)
	endsPath   = regexp.MustCompile(`[^\\]\$\)*$`)
	around     = regexp.MustCompile(`^\(\?i\)(\^?\.\*)?|^\^?\.\*|\.\*\$?$`)
	outerGroup = regexp.MustCompile(`(?s)^\((?:\?[a-z]*:)?(.*)\)$`)
	anyText    = regexp.MustCompile(`\.[*+]\??|\((?:\?:)?\.[*+]\??\)`)
)

// pathExpression returns the pattern of the paths, without the query, that a
// regular expression matches.
func pathExpression(expr string, fold bool) (all pattern) {
	if rest, found := strings.CutPrefix(expr, "(?i)"); found {
		expr, fold = rest, true
	}
	if _, err := regexp.Compile(expr); err != nil {
		return unsaid("%v (the regular expressions are those of Go, RE2)", err)
	}
	for _, part := range alternatives(expr) {
		name, begin := anyFolder.ReplaceAllString(part, ""), ""
		if name == part && slash.MatchString(part) {
			name, begin = slash.ReplaceAllString(part, ""), "^"
		}
		p := partOfPath(part)
		if !leavesName.MatchString(name) && endsPath.MatchString(name) { // then the file name is enough
			if fold {
				begin = "(?i)" + begin
			}
			p = of(headers.KindRegexp, begin+name)
			if strings.Contains(strings.ReplaceAll(name, `\.`, ""), ".") {
				p = p.note(true, "a dot without a backslash does not match a slash here")
			}
		} else if p.unsaid != "" || p.isEverything() {
			return p
		} else if fold && strings.ToLower(part) != strings.ToUpper(part) {
			p = p.note(true, "only this spelling in upper and lower case")
		}
		all.settings, all.notes = append(all.settings, p.settings...), append(all.notes, p.notes...)
	}
	return all
}

// queryMark is the beginning of a query in a regular expression.
var queryMark = regexp.MustCompile(`\\\?|\[[^]]*\?`)

// targetExpression returns the pattern of the paths with a query that a regular
// expression matches.
func targetExpression(expr string, fold bool) pattern {
	p := partOfPath(strings.TrimPrefix(expr, "(?i)"))
	for i, r := range p.settings {
		p.settings[i].Pattern = strings.ReplaceAll(r.Pattern, "%3F", "?")
	}
	if fold || strings.HasPrefix(expr, "(?i)") {
		p = p.note(true, "only this spelling in upper and lower case")
	}
	return p
}

// partOfPath returns the pattern of a regular expression for paths that consists
// of literals and .*
func partOfPath(expr string) pattern {
	body, begin := strings.CutPrefix(expr, "^")
	body, end := strings.CutSuffix(body, "$")
	texts := []string{"*"}
	if begin {
		texts = []string{""}
	}
	for i, piece := range anyText.Split(body, -1) {
		var longer []string
		for _, g := range nameglob.FromRegexp("^(?:" + piece + ")$") {
			for _, text := range texts {
				longer = append(longer, text+"*"[:min(i, 1)]+quotePath(g.Prefix))
			}
		}
		if texts = longer; len(texts) == 0 || len(texts) > maxTexts {
			return unsaid("x_robots_tag can compare only file names with the regular expression %q, not whole paths", clip(expr))
		}
	}
	var all []string
	for _, text := range texts {
		if text = strings.ReplaceAll(text, "**", "*"); !strings.Contains(text, "/") {
			text = "/" + text // otherwise it would be a file name
		}
		forms := whole(text)
		if !end {
			forms = []string{strings.TrimRight(text, "*")}
		}
		all = append(all, forms...)
	}
	return of(headers.KindPath, all...)
}

// compare returns the pattern of the requests for which a variable of the
// server has a value (op is =), or matches a regular expression (~ or ~*).
func compare(variable, op, value string) pattern {
	switch strings.ToLower(variable) {
	case "$uri", "$document_uri", "$request_uri", "request_uri":
		if op == "=" {
			return of(headers.KindPath, whole(quotePath(value))...)
		} else if variable[0] == '$' && strings.ContainsRune(value, '?') && queryMark.MatchString(value) {
			return targetExpression(value, op == "~*")
		}
		return pathExpression(value, op == "~*")
	case "$args", "$query_string", "query_string":
		if text, begin := strings.CutPrefix(value, "^"); op != "=" && begin {
			return targetExpression(`^/.*\?`+text, op == "~*")
		} else if op != "=" {
			return targetExpression(`^/.*\?.*`+value, op == "~*")
		}
	case "$http_user_agent", "user-agent", "http_user_agent":
		if op == "=" {
			value = "^" + regexp.QuoteMeta(value) + "$"
		}
		if _, err := regexp.Compile(value); err != nil {
			return unsaid("%v", err)
		}
		return pattern{settings: everything.settings, agent: value}
	case "request_status":
		return of(headers.KindStatus, value)
	case "$sent_http_content_type", "$upstream_http_content_type", "content_type", "content-type":
		media, _, _ := strings.Cut(strings.NewReplacer(`\`, "", "^", "", "$", "").Replace(value), ";")
		if strings.HasSuffix(media, "/") {
			media += "*"
		}
		return of(headers.KindType, media)
	}
	return unsaid("x_robots_tag can't select requests by %s", clip(variable))
}

// alternatives returns the parts of a regular expression that are separated by |
// outside of all groups and classes. It ignores a group around all of them, and
// .* at the beginning and the end.
func alternatives(expr string) (words []string) {
	expr = around.ReplaceAllString(expr, "")
	if m := outerGroup.FindStringSubmatch(expr); m != nil && len(expr) < maxExpression {
		if _, err := regexp.Compile(m[1]); err == nil {
			return alternatives(m[1])
		}
	}
	word := ""
	for part := range strings.SplitSeq(expr, "|") {
		word += part
		if _, err := regexp.Compile(word); err == nil || len(expr) > maxExpression {
			words, word = append(words, word), ""
		} else {
			word += "|" // it is in a group or a class
		}
	}
	return words
}
