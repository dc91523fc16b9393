package headersimport

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
)

// apacheServer is the main server or a virtual host, with its Header
// directives.
type apacheServer struct {
	site    *Site
	root    string          // DocumentRoot
	mapped  int             // the first line that maps URLs to files by other means than DocumentRoot; 0: none
	modules map[string]bool // modules that LoadModule loads, in lower case
	index   indexNames
	ops     []apacheOp
}

// apacheOp is a Header directive that changes X-Robots-Tag.
type apacheOp struct {
	line   int
	place  place
	host   bool   // it is in a virtual host; Apache merges it after the directives of the main server
	always bool   // the header table: always if true, else onsuccess
	action string // set, add, append, merge, setifempty, unset, edit, edit*, include
	tags   []headers.Tag
	// conditional: it applies only under a condition.
	conditional bool
	status      string // the status of the responses that it applies to; "": all
}

// maxApacheOps is the maximal number of Header directives of a server, since
// the time is quadratic in their number.
const maxApacheOps = 2000

// importApache imports a configuration of Apache.
func importApache(config string) Result {
	all, problems := parseApache(config)
	im := Result{Problems: problems}
	modules := map[string]bool{}
	var hosts, rest []apacheDirective
	for _, d := range all {
		switch {
		case d.section && d.name == "virtualhost":
			hosts = append(hosts, d)
			continue
		case d.name == "loadmodule" && len(d.args) == 2:
			modules[strings.ToLower(d.args[0])] = true
			modules[strings.TrimSuffix(strings.ToLower(path.Base(d.args[1])), ".so")+".c"] = true
		}
		rest = append(rest, d)
	}
	servers := []apacheDirective{{inner: rest}}
	for _, h := range hosts {
		servers = append(servers, apacheDirective{line: h.line, inner: h.inner, section: true})
	}
	for i, server := range servers {
		a := &apacheServer{site: &Site{Line: server.line}, modules: modules, index: commonIndexes}
		if i > 0 {
			a.settings(rest, false)
		}
		a.settings(server.inner, i > 0)
		start := place{scope: everything()}
		a.collect(rest, start, false)
		if i > 0 {
			a.collect(server.inner, start, true)
		}
		if len(a.ops) > 0 || len(a.site.Problems) > 0 {
			a.convert()
			im.Sites = append(im.Sites, *a.site)
		}
	}
	return im
}

// settings reads the names of the server, and the directives that map URLs to
// files.
func (a *apacheServer) settings(all []apacheDirective, host bool) {
	for _, d := range all {
		switch d.name {
		case "servername", "serveralias":
			if host {
				for _, name := range d.args {
					name = strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://")
					name, _, _ = strings.Cut(name, ":")
					a.site.Names = append(a.site.Names, name)
				}
			}
		case "documentroot":
			if len(d.args) == 1 && path.IsAbs(d.args[0]) {
				a.root = path.Clean(d.args[0])
			}
		case "directoryindex":
			a.index = append(a.index[:len(a.index):len(a.index)], d.args...)
		case "alias", "aliasmatch", "scriptalias", "scriptaliasmatch", "rewriterule", "proxypass", "proxypassmatch", "userdir", "virtualdocumentroot":
			if a.mapped == 0 {
				a.mapped = d.line
			}
		}
		if d.section && d.name != "virtualhost" {
			a.settings(d.inner, false)
		}
	}
}

// harmlessApacheIncludes are files of Apache and of common packages that set no
// headers.
var harmlessApacheIncludes = map[string]bool{"ports.conf": true, "options-ssl-apache.conf": true, "serve-cgi-bin.conf": true, "*.load": true}

// collect adds the Header directives in all, which are at place p.
func (a *apacheServer) collect(all []apacheDirective, p place, host bool) {
	for _, d := range all {
		switch {
		case d.section && d.name == "virtualhost":
			a.site.problem(d.line, "<VirtualHost> is inside another section")
		case d.section:
			a.collect(d.inner, a.enterSection(p, &d), host)
		case d.name == "include" || d.name == "includeoptional":
			if len(d.args) != 1 || harmlessApacheIncludes[path.Base(d.args[0])] {
				continue
			}
			a.site.problem(d.line, "the included file %s is missing; import the output of httpd -t -D DUMP_CONFIG, which has all files", clip(d.args[0]))
			for _, always := range [...]bool{true, false} {
				a.ops = append(a.ops, apacheOp{line: d.line, place: place{p.stage, p.depth, p.scope, "the included file"}, host: host, always: always, action: "include", conditional: true})
			}
		case d.name == "header":
			a.header(&d, p, host)
		case d.name == "use" || slices.ContainsFunc(d.args, func(s string) bool { return strings.EqualFold(strings.TrimSuffix(s, ":"), fieldName) }):
			if d.name != "use" {
				a.site.problem(d.line, "%s is not converted; only Header lines are", clip(d.title))
			}
		}
	}
}

var requestStatus = regexp.MustCompile(`^%\{REQUEST_STATUS\}\s*(?:==|-eq)\s*['"]?(\d{3})['"]?$`)

// header adds a Header directive (mod_headers) if it is for X-Robots-Tag.
func (a *apacheServer) header(d *apacheDirective, p place, host bool) {
	args, always := d.args, false
	if len(args) > 0 && (strings.EqualFold(args[0], "always") || strings.EqualFold(args[0], "onsuccess")) {
		always, args = strings.EqualFold(args[0], "always"), args[1:]
	}
	if len(args) < 2 || !strings.EqualFold(strings.TrimSuffix(args[1], ":"), fieldName) {
		return
	}
	op := apacheOp{line: d.line, place: p, host: host, always: always, action: strings.ToLower(args[0])}
	value, conditions := "", args[2:]
	switch op.action {
	case "set", "add", "append", "merge", "setifempty":
		if len(args) < 3 {
			a.site.problem(d.line, "Header %s has no value", op.action)
			return
		}
		value, conditions = args[2], args[3:]
	case "unset":
		a.site.problem(d.line, "Header unset is not converted: rules keep the header that the back end sends. Remove it with the Caddyfile directive header or header_down")
	case "edit", "edit*":
		a.site.problem(d.line, "Header %s is not converted: a rule can't edit a value", op.action)
		op.conditional, conditions = true, nil
	default:
		a.site.problem(d.line, "Header has no action %s", clip(args[0]))
		return
	}
	for _, c := range conditions {
		if m := requestStatus.FindStringSubmatch(strings.TrimPrefix(c, "expr=")); m != nil && p.scope.isEverything() && op.status == "" {
			op.status = m[1]
		} else {
			a.site.problem(d.line, "not converted: it has the condition %s", clip(c))
			op.conditional = true
		}
	}
	if value != "" && !a.value(&op, value) && op.action != "set" {
		return
	}
	if len(a.ops) == maxApacheOps {
		a.site.problem(d.line, "the server is not converted: it has more than %d Header lines", maxApacheOps)
	}
	a.ops = append(a.ops, op)
}

// value parses the value of a Header directive. It returns false if the value
// is not valid, or if Apache computes it for each request.
func (a *apacheServer) value(op *apacheOp, value string) bool {
	if strings.Contains(strings.ReplaceAll(value, "%%", ""), "%") || strings.HasPrefix(value, "expr=") {
		a.site.problem(op.line, "not converted: Apache computes the value %q for each request", clip(value))
		return false
	}
	tags, err := headers.ParseTags(strings.ReplaceAll(value, "%%", "%"))
	if err != nil {
		a.site.problem(op.line, "%v", err)
		return false
	}
	op.tags = tags
	return true
}

// convert converts the Header directives to rules. It reads them in the order
// in which Apache merges sections and applies directives.
func (a *apacheServer) convert() {
	if len(a.ops) > maxApacheOps {
		return
	}
	slices.SortStableFunc(a.ops, func(x, y apacheOp) int {
		return cmp.Or(cmp.Compare(x.place.stage, y.place.stage), cmp.Compare(x.place.depth, y.place.depth))
	})
	for i, op := range a.ops {
		switch {
		case op.tags == nil || op.conditional:
		case op.action == "setifempty":
			a.site.problem(op.line, "not converted: setifempty keeps a header of the back end, and a rule adds to it")
		case op.status != "":
			a.statusRule(op, a.ops[i+1:])
		default:
			if why := a.joins(op, a.ops[:i]); why != "" {
				a.site.problem(op.line, "not converted: %s", why)
				continue
			}
			a.site.convert(statement{op.line, op.place.scope, op.tags, exceptionsTo(op, a.ops[i+1:])}, a.index)
		}
	}
}

// exceptionsTo returns the parts of the scope of a directive in which later
// directives remove its value.
func exceptionsTo(op apacheOp, later []apacheOp) (all []exception) {
	for _, l := range later {
		removes := l.action == "set" || l.action == "unset" || strings.HasPrefix(l.action, "edit") || l.action == "include"
		if !removes || l.always != op.always || headers.Imply(l.tags, op.tags) || !l.place.scope.overlaps(op.place.scope) || l.status >= "4" {
			continue
		}
		what := l.place.text
		if what == "" {
			what = "a later line"
		}
		all = append(all, exception{scope: l.place.scope, partial: l.conditional || l.status != "", what: what})
	}
	return all
}

// joins returns why a value that is appended to an earlier value may apply to
// another crawler than intended, and "" if that is not possible.
func (a *apacheServer) joins(op apacheOp, earlier []apacheOp) string {
	if op.action != "append" && op.action != "merge" || op.tags[0].Crawler != "" {
		return ""
	}
	for _, e := range earlier {
		if e.always == op.always && len(e.tags) > 0 && e.tags[len(e.tags)-1].Crawler != "" && e.place.scope.overlaps(op.place.scope) {
			return "it is appended to a value for " + e.tags[len(e.tags)-1].Crawler + ", so it applies only to that crawler"
		}
	}
	return ""
}

// statusRule adds the rules for a directive that applies to responses of one
// status.
func (a *apacheServer) statusRule(op apacheOp, later []apacheOp) {
	if op.status < "4" && len(exceptionsTo(op, later)) > 0 {
		a.site.problem(op.line, "not converted: a later line replaces the value")
		return
	}
	for _, t := range op.tags {
		r := headers.Setting{Kind: headers.KindStatus, Pattern: op.status, Crawler: t.Crawler, Directives: t.Directives}
		if err := r.Validate(); err != nil {
			a.site.problem(op.line, "%v", err)
			return
		}
		a.site.addRule(op.line, r)
	}
}
