package headersimport

import (
	"path"
	"strings"
)

// maxLevels is the maximal number of levels (see nginxLevel) of a server, since
// the time is quadratic in their number.
const maxLevels = 2000

// nginxImporter builds the levels of a configuration, and imports its servers.
type nginxImporter struct {
	files *nginxFiles
	out   Result
	left  int // number of levels that may still be built
}

// maxAllLevels is the maximal number of levels of all servers together.
const maxAllLevels = 50_000

// importNginx imports a configuration of nginx.
func importNginx(config string) Result {
	main, files, problems := parseNginx(config)
	im := nginxImporter{files: files, left: maxAllLevels}
	im.out.Problems = problems
	im.servers(main, &nginxLevel{kind: "http", scope: everything()}, 0)
	return im.out
}

// servers imports the server blocks among directives. around is the level of
// the directives themselves. If there is no server block, as in a file that a
// server block includes, servers imports the other directives as one site.
func (im *nginxImporter) servers(directives []nginxDirective, around *nginxLevel, depth int) {
	flat := im.flatten(directives, func(d *nginxDirective) {
		im.out.Problems = append(im.out.Problems, Problem{d.line, unreadInclude(d)})
		around.inner = append(around.inner, &nginxLevel{line: d.line, kind: "include", outer: around, scope: around.scope})
	}, 0)
	site := &Site{}
	var loose []nginxDirective
	for _, d := range flat {
		switch {
		case len(d.words) == 0:
		case !d.open:
			im.directive(site, around, &d)
		case d.words[0] == "location" || d.words[0] == "if":
			loose = append(loose, d)
		}
	}
	alone := true // there is no http or server block
	for _, d := range flat {
		switch {
		case len(d.words) == 0 || !d.open:
		case d.words[0] == "http" && depth == 0:
			alone = false
			im.servers(d.block, &nginxLevel{kind: "http", scope: everything()}, 1)
		case d.words[0] == "server" && len(d.words) == 1:
			alone = false
			im.server(d, around)
		}
	}
	if !alone {
		im.out.Problems = append(im.out.Problems, site.Problems...)
		for _, d := range loose {
			im.out.Problems = append(im.out.Problems, Problem{d.line, d.words[0] + " is outside of every server block"})
		}
		return
	}
	around.kind = "server"
	im.levels(site, around, loose)
	im.finish(site, around)
}

func unreadInclude(d *nginxDirective) string {
	return "the included file " + clip(d.words[1]) + " is missing; import the output of nginx -T, which has all files"
}

// harmlessIncludes are files of nginx and of common packages that have no
// add_header directives and no locations.
var harmlessIncludes = map[string]bool{
	"mime.types": true, "fastcgi_params": true, "fastcgi.conf": true, "uwsgi_params": true, "scgi_params": true, "proxy_params": true,
	"fastcgi-php.conf": true, "snakeoil.conf": true, "options-ssl-nginx.conf": true,
}

// flatten replaces include directives with the included directives. It calls
// unread for an include of a file that is not known.
func (im *nginxImporter) flatten(directives []nginxDirective, unread func(*nginxDirective), depth int) (flat []nginxDirective) {
	for _, d := range directives {
		if len(d.words) != 2 || d.words[0] != "include" {
			flat = append(flat, d)
			continue
		}
		included, known := im.files.include(d.words[1])
		switch {
		case known && depth < 8:
			flat = append(flat, im.flatten(included, unread, depth+1)...)
		case !harmlessIncludes[path.Base(d.words[1])]:
			unread(&d)
		}
	}
	return flat
}

// server imports a server block.
func (im *nginxImporter) server(d nginxDirective, http *nginxLevel) {
	site := &Site{Line: d.line}
	level := &nginxLevel{line: d.line, kind: "server", outer: http, scope: everything()}
	im.levels(site, level, d.block)
	im.finish(site, level)
}

// levels adds the directives of a block to its level.
func (im *nginxImporter) levels(site *Site, level *nginxLevel, block []nginxDirective) {
	flat := im.flatten(block, func(d *nginxDirective) {
		site.problem(d.line, "%s", unreadInclude(d))
		level.inner = append(level.inner, &nginxLevel{line: d.line, kind: "include", outer: level, scope: level.scope})
	}, 0)
	for _, d := range flat {
		if len(d.words) == 0 {
			continue
		}
		if !d.open {
			im.directive(site, level, &d)
			continue
		}
		if im.left--; im.left < 0 {
			site.problem(d.line, "the configuration has more than %d blocks; the rest is not converted", maxAllLevels)
			level.inner = append(level.inner, &nginxLevel{line: d.line, kind: "include", outer: level, scope: level.scope})
			return
		}
		in := &nginxLevel{line: d.line, kind: d.words[0], outer: level, scope: level.scope}
		switch {
		case d.words[0] == "location" && len(d.words) > 1:
			in.modifier, in.uri = nginxLocation(d.words[1:])
			in.scope = nginxScope(level, in.modifier, in.uri)
		case d.words[0] == "if" || d.words[0] == "limit_except":
			in.kind = d.words[0] + " " + clip(strings.Join(d.words[1:], " "))
			in.scope = unselectable(in.kind).boundBy(level.scope)
		case strings.Contains(strings.ToLower(d.text), "x-robots-tag"):
			site.problem(d.line, "%s is not converted, although it contains X-Robots-Tag", d.words[0])
			continue
		default:
			continue
		}
		level.inner = append(level.inner, in)
		im.levels(site, in, d.block)
	}
}

// nginxLocation returns the modifier and the URI of a location.
func nginxLocation(words []string) (modifier, uri string) {
	if len(words) == 2 {
		return words[0], words[1]
	}
	uri = strings.Join(words, " ")
	for _, m := range []string{"=", "^~", "~*", "~"} { // there may be no blank after the modifier
		if rest, found := strings.CutPrefix(uri, m); found {
			return m, rest
		}
	}
	return "", uri
}

// nginxScope returns the scope of a location inside a level.
func nginxScope(outer *nginxLevel, modifier, uri string) scope {
	var s scope
	switch {
	case strings.HasPrefix(uri, "@"):
		return unknownScope("only redirects inside nginx lead to location %s", clip(uri))
	case strings.HasPrefix(modifier, "~"):
		s = pathRegexp(uri, modifier == "~*")
	case !strings.HasPrefix(uri, "/"):
		return unknownScope("the path of location %s does not start with a slash", clip(uri))
	case modifier == "=":
		s = pathExactly(uri)
	default:
		s = pathPrefix(uri)
	}
	if s.unknown == "" && !outer.scope.covers(s) {
		return unknownScope("two locations, one inside the other, limit the requests, and a rule has only one pattern").boundBy(outer.scope, s)
	}
	return s
}

// finish converts the lines of a server to rules, and adds the site to the
// result.
func (im *nginxImporter) finish(site *Site, server *nginxLevel) {
	levels := 0
	server.all(func(*nginxLevel) bool { levels++; return true })
	if levels > maxLevels {
		site.problem(server.line, "the server is not converted: it has more than %d locations", maxLevels)
	} else {
		c := nginxConverter{site: site, server: server, index: commonIndexes}
		server.all(func(l *nginxLevel) bool { c.index = append(c.index, l.indexes...); return true })
		c.convert()
	}
	im.out.Sites = append(im.out.Sites, *site)
}
