package headersimport

import (
	"regexp"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
)

// directive adds a directive without a block to its level.
func (im *nginxImporter) directive(site *Site, l *nginxLevel, d *nginxDirective) {
	args := d.words[1:]
	switch name := d.words[0]; {
	case name == "server_name" && l.kind == "server":
		for _, a := range args {
			if a != "" && a != "_" {
				site.Names = append(site.Names, a)
			}
		}
	case name == "add_header":
		l.adds = true
		if len(args) >= 2 && strings.EqualFold(args[0], fieldName) && args[1] != "" { // nginx sends no empty header
			l.tags = append(l.tags, nginxValue(site, d.line, args[1]))
		}
	case name == "add_header_inherit":
		l.adds = true
		l.tags = append(l.tags, nginxTag{line: d.line, uncertain: true})
		site.problem(d.line, "not converted: add_header_inherit and the headers that it inherits")
	case name == "more_set_headers" || name == "more_clear_headers":
		nginxMore(site, l, d)
	case name == "try_files" && len(args) > 1:
		l.redirect(d, args[len(args)-1])
	case name == "rewrite" && len(args) > 1:
		nginxRewrite(l, d)
	case name == "error_page":
		l.errorPage = true
		for _, a := range args { // without a =, the response keeps the status of the error
			if strings.HasPrefix(a, "=") {
				l.redirect(d, args[len(args)-1])
				break
			}
		}
	case name == "index":
		for _, a := range args {
			if strings.Contains(a, "$") || strings.HasPrefix(a, "/") {
				l.redirect(d, a)
			} else {
				l.indexes = append(l.indexes, a)
			}
		}
	case strings.HasSuffix(name, "_pass") || name == "return":
		l.answers = true
	}
}

// redirect adds a redirect of the level to a path or a named location, unless
// to is a status or a full URL.
func (l *nginxLevel) redirect(d *nginxDirective, to string) {
	if strings.HasPrefix(to, "=") || strings.Contains(to, "://") {
		return
	}
	to, _, _ = strings.Cut(to, "?")
	if strings.Contains(to, "$") || to == "" || to[0] != '/' && to[0] != '@' {
		to = ""
	}
	l.redirects = append(l.redirects, nginxRedirect{d.line, d.words[0], to})
}

// nginxRewrite adds the redirect of a rewrite directive, unless the rewrite
// does not lead to another location.
func nginxRewrite(l *nginxLevel, d *nginxDirective) {
	to, flag := d.words[2], ""
	if len(d.words) > 3 {
		flag = d.words[3]
	}
	switch {
	case flag == "redirect" || flag == "permanent" || strings.HasPrefix(to, "http://") || strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "$scheme"):
	case flag == "break" && l.kind == "location":
	default:
		for l.outer != nil && l.kind != "location" && l.kind != "server" { // an if of the server
			l = l.outer
		}
		l.redirect(d, to)
	}
}

var nginxVariable = regexp.MustCompile(`\$`)

// nginxValue parses the value of a header.
func nginxValue(site *Site, line int, value string) nginxTag {
	t := nginxTag{line: line}
	if nginxVariable.MatchString(value) {
		site.problem(line, "not converted: nginx computes the value %q for each request", clip(value))
		t.uncertain = true
		return t
	}
	tags, err := headers.ParseTags(value)
	if err != nil {
		site.problem(line, "%v", err)
		t.uncertain = true
		return t
	}
	t.tags = tags
	return t
}

// nginxMore adds the X-Robots-Tag headers of more_set_headers and
// more_clear_headers (module headers-more).
func nginxMore(site *Site, l *nginxLevel, d *nginxDirective) {
	conditional := false
	for i := 1; i < len(d.words); i++ {
		w := d.words[i]
		if w == "-s" || w == "-t" || w == "-a" || w == "-r" {
			conditional = true
			if w == "-s" || w == "-t" {
				i++
			}
			continue
		}
		name, value, found := strings.Cut(w, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		clears := d.words[0] == "more_clear_headers"
		if pattern, some := strings.CutSuffix(name, "*"); clears && some && len(pattern) <= len(fieldName) && strings.EqualFold(fieldName[:len(pattern)], pattern) {
			name, conditional = fieldName, true
		}
		if !strings.EqualFold(name, fieldName) {
			continue
		}
		t := nginxTag{line: d.line, clears: true}
		switch {
		case conditional:
			site.problem(d.line, "not converted: %s has conditions", d.words[0])
			t.uncertain = true
		case !clears && found && value != "":
			t = nginxValue(site, d.line, value)
			t.clears = t.uncertain
		}
		l.more = append(l.more, t)
	}
}
