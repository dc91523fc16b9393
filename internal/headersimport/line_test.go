package headersimport

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// lines returns the rules and the policy of all sites as lines, and whether
// something is missing.
func lines(im Result) (all []string, missing bool) {
	entries := im.Entries
	for _, s := range im.Sites {
		entries = append(entries, s.Entries...)
		all = append(all, s.Policy...)
	}
	for _, e := range entries {
		missing = missing || e.Missing
		if e.Comment == "" {
			all = append(all, strings.TrimPrefix(e.String(), "x_robots_tag "))
		}
	}
	return all, missing
}

// Each construct alone, as the lines that it becomes.
func TestImportLines(t *testing.T) {
	for _, tt := range []struct {
		config, want string
		missing      bool
	}{
		// Conditions of Apache.
		{"SetEnvIf User-Agent googlebot g\nHeader set X-Robots-Tag noindex env=g", "* googlebot: only noindex", false},
		{"SetEnvIfNoCase User-Agent \"bingbot|msnbot\" g\nHeader set X-Robots-Tag noindex env=g", "* bingbot: only noindex", false},
		{"SetEnvIfNoCase User-Agent \"bingbot|NoSuchBot\" g\nHeader set X-Robots-Tag noindex env=g", "* bingbot: only noindex", true},
		{"SetEnvIf Request_URI \"\\.pdf$\" p\nHeader set X-Robots-Tag noindex env=p", `~ \.pdf$ noindex`, false},
		{"SetEnvIf Request_URI \"\\.pdf$\" p\nHeader set X-Robots-Tag noindex env=!p", `not ~ \.pdf$ noindex`, false},
		{"SetEnvIf Request_URI \"^/a\" p\nSetEnvIf Request_URI \"^/b\" p\nHeader set X-Robots-Tag noindex env=p", "/a noindex|/b noindex", false},
		{"SetEnvIf Request_URI \"^/a\" p\nSetEnvIf Request_URI \"^/b\" p\nHeader set X-Robots-Tag noindex env=!p", "", true},
		{"SetEnvIf Request_URI x p\nSetEnvIf Request_URI y !p\nHeader set X-Robots-Tag noindex env=p", "/*x noindex", false},
		{"SetEnvIf User-Agent Googlebot p\nSetEnvIf User-Agent Googlebot-Image !p\nHeader set X-Robots-Tag noindex env=p", "* googlebot: only noindex", false},
		{"Header set X-Robots-Tag noindex \"expr=%{REQUEST_STATUS} -eq 404\"", "status 404 noindex", false},
		{"Header set X-Robots-Tag noindex \"expr=%{REQUEST_URI} =~ m#\\.pdf$#\"", `~ \.pdf$ noindex`, false},
		{"Header set X-Robots-Tag noindex \"expr=%{REQUEST_URI} =~ /^\\/a\\//\"", "/a/ noindex", false},
		{"Header set X-Robots-Tag noindex \"expr=%{HTTP_USER_AGENT} =~ /GOOGLEBOT$/i\"", "", true},
		{"Header set X-Robots-Tag noindex \"expr=%{HTTP_USER_AGENT} =~ m|bingbot|\"", "* bingbot: only noindex", false},
		{"Header set X-Robots-Tag noindex \"expr=%{resp:Content-Type} =~ m#^image/#\"", "type image/* noindex", false},
		{"Header set X-Robots-Tag noindex \"expr=%{QUERY_STRING} =~ /^print=/\"", "/*?print= noindex", false},
		{"Header set X-Robots-Tag noindex \"expr=%{REQUEST_URI} =~ /a/ && %{HTTPS} == 'on'\"", "", true},
		{"<If \"%{REQUEST_URI} == '/a'\">\nHeader set X-Robots-Tag noindex\n</If>", "/a$ noindex|/a? noindex", false},
		{"<If \"%{HTTP_HOST} == 'a.test'\">\nHeader set X-Robots-Tag noindex\n</If>", "", true},
		{"Header set X-Robots-Tag \"noindex, nonsense\"", "* noindex", true},

		// Lines and sections of Apache.
		{"Header set X-Robots-Tag noindex\nHeader set X-Robots-Tag noarchive", "* noarchive", false},
		{"Header set X-Robots-Tag noindex\nHeader add X-Robots-Tag noarchive", "* noindex|* noarchive", false},
		{"<Directory /srv>\nHeader set X-Robots-Tag none\n</Directory>\nDocumentRoot /srv/www", "* none", false},
		{"DocumentRoot /srv\n<Directory /srv/a>\n<FilesMatch \"\\.(pdf|doc)$\">\nHeader set X-Robots-Tag none\n</FilesMatch>\n</Directory>", "/a/*.pdf$ none|/a/*.pdf? none|/a/*.doc$ none|/a/*.doc? none", false},
		{"<Location /a/>\n<Files b.txt>\nHeader set X-Robots-Tag none\n</Files>\n</Location>", "/a/b.txt$ none|/a/b.txt? none|/a/*/b.txt$ none|/a/*/b.txt? none", false},
		{"<Location /a/>\n<FilesMatch ^[ab]>\nHeader set X-Robots-Tag none\n</FilesMatch>\n</Location>", "", true},
		{"<Files \"a b.txt\">\nHeader set X-Robots-Tag none\n</Files>", "~ `^a b\\.txt$` none", false},
		{"<Files \"[!a]?.txt\">\nHeader set X-Robots-Tag none\n</Files>", `~ ^(?s)[^a].\.txt$ none`, false},
		{"<Location /a*b>\nHeader set X-Robots-Tag none\n</Location>", "", true},
		{"<IfModule mod_headers.c>\nHeader \\\n set X-Robots-Tag none\n</IfModule>", "* none", false},
		{"<IfVersion >= 2.4>\nHeader set X-Robots-Tag none\n</IfVersion>", "* none", false},
		{"<IfModule !mod_headers.c>\nHeader set X-Robots-Tag none\n</IfModule>", "", true},
		{"<Files *.pdf> Header set X-Robots-Tag noindex </Files>", "", true},
		{"<Files *.pdf>\nHeader set X-Robots-Tag noindex </Files>\n</Files>", "", true},

		// Bad bots.
		{"BrowserMatchNoCase \"(AhrefsBot|MJ12bot)\" bad\nDeny from env=bad", "deny AhrefsBot MJ12bot", false},
		{"SetEnvIfNoCase User-Agent \"^DotBot\" bad\n<RequireAll>\nRequire not env bad\n</RequireAll>", "deny DotBot", false},
		{"SetEnvIfNoCase User-Agent DotBot bad\n<Location /a/>\nDeny from all env=bad\n</Location>", "deny DotBot /a/", false},
		{"SetEnvIfNoCase User-Agent DotBot bad\n<Limit GET POST>\nDeny from env=bad\n</Limit>", "deny DotBot", false},
		{"SetEnvIfNoCase User-Agent DotBot bad\n<Limit POST>\nDeny from env=bad\n</Limit>", "", true},
		{"BrowserMatchNoCase \"Yandex(Images|Video)\" bad\nBrowserMatch YandexImages !bad\nDeny from env=bad", "deny YandexVideo YandexVideoParser", false},
		{"BrowserMatch YandexImages !bad\nBrowserMatchNoCase \"YandexImages|DotBot\" bad\nDeny from env=bad", "deny YandexImages DotBot", false},
		{"SetEnvIfNoCase User-Agent NoSuchBot bad\nDeny from env=bad", "", true},
		{"SetEnvIfNoCase User-Agent bot bad\nDeny from env=bad", "", true},
		{"SetEnvIfNoCase User-Agent DotBot bad\n<Files *.pdf>\nDeny from env=bad\n</Files>\nDeny from env=bad", "deny DotBot", false},
		{"BrowserMatchNoCase \"Google Web Preview|DotBot\" bad\nDeny from env=bad", `deny "Google Web Preview" DotBot`, false},
		{"RewriteCond %{HTTP_USER_AGENT} DotBot\nRewriteRule ^ - [F]", "", true},
		{"if ($http_user_agent ~* (AhrefsBot|mj12bot)) { return 403; }", "deny AhrefsBot MJ12bot", false},
		{"map $http_user_agent $bad { default 0; ~*DotBot 1; ~*Googlebot 0; }\nserver { if ($bad) { return 444; } }", "deny DotBot", false},
		{"map $http_user_agent $bad { default 0; ~*YandexImages 0; ~*Yandex(Images|Video) 1; ~*DotBot 1; ~*DotBot 0; }\nserver { if ($bad) { return 403; } }", "deny YandexVideo YandexVideoParser|deny DotBot", false},
		{"map $http_user_agent $bad { default ''; ~*DotBot x; }\nserver { location /a/ { if ($bad = x) { return 403; } } }", "deny DotBot /a/", false},
		{"map $http_user_agent $bad { default 0; ~*DotBot 1; }\nserver { if ($bad != 1) { return 403; } }", "", false},

		// nginx.
		{"location ~* \\.(pdf|docx?)$ { add_header X-Robots-Tag noindex; } location ^~ /drafts/ { }", `~ (?i)\.(pdf|docx?)$ noindex`, false},
		{"location = /a { add_header X-Robots-Tag noindex; }", "/a$ noindex|/a? noindex", false},
		{"location ~*\\.pdf$ { add_header X-Robots-Tag noindex; }", `~ (?i)\.pdf$ noindex`, false},
		{"location ~ \"^/\\d{4}/\" { add_header X-Robots-Tag noindex; }", "", true},
		{"location ~* ^/Drafts/ { add_header X-Robots-Tag noindex; }", "/Drafts/ noindex", true},
		{"location @a { add_header X-Robots-Tag noindex; }", "", true},
		{"location /a/ { location ~* \\.pdf$ { add_header X-Robots-Tag noindex; } }", "/a/*.pdf$ noindex|/a/*.pdf? noindex", true},
		{"location / { try_files $uri /i.php?$args; } location ~ \\.php$ { add_header X-Robots-Tag noindex; }", `~ \.php$ noindex|* noindex`, false},
		{"index i.php; location ~ \\.php$ { add_header X-Robots-Tag noindex; }", `~ \.php$ noindex|*/$ noindex|*/? noindex`, false},
		{"location = /a/index.html { add_header X-Robots-Tag noindex; }", "/a/index.html$ noindex|/a/index.html? noindex|/a/$ noindex|/a/? noindex", false},
		{"map $uri $x { default ''; ~*\\.pdf$ noindex; /a nofollow; }\nserver { add_header X-Robots-Tag $x; }", `~ (?i)\.pdf$ noindex|/a$ nofollow|/a? nofollow`, false},
		{"map $uri $x { default noindex; ~^/public/ ''; }\nserver { add_header X-Robots-Tag $x; }", "not /public/ noindex", false},
		{"map $uri $x { default noindex; ~^/public/ nofollow; }\nserver { add_header X-Robots-Tag $x; }", "/public/ nofollow|* noindex", false},
		{"map $http_user_agent $x { ~*googlebot noindex; }\nserver { location /a/ { add_header X-Robots-Tag $x; } }", "/a/ googlebot: only noindex", false},
		{"map $sent_http_content_type $x { ~^image/ noindex; 'text/html; charset=utf-8' nofollow; }\nserver { add_header X-Robots-Tag $x; }", "type image/* noindex|type text/html nofollow", false},
		{"map $host $x { a.test noindex; }\nserver { add_header X-Robots-Tag $x; }", "", true},
		{"set $x ''; if ($uri ~ ^/a/) { set $x noindex; }\nadd_header X-Robots-Tag $x;", "/a/ noindex", false},
		{"if ($request_uri ~ ^/search\\?) { add_header X-Robots-Tag noindex; }", "/search? noindex", false},
		{"if ($request_uri ~ [?&](a|b)=) { add_header X-Robots-Tag noindex; }", "/*&a= noindex|/*&b= noindex|/*?a= noindex|/*?b= noindex", false},
		{"if ($request_uri ~* \\?Print$) { add_header X-Robots-Tag noindex; }", "/*?Print$ noindex|/*?Print? noindex", true},
		{"if ($args ~ ^page=) { add_header X-Robots-Tag noindex; }", "/*?page= noindex", false},
		{"if ($query_string ~ preview) { add_header X-Robots-Tag noindex; }", "/*?*preview noindex", false},
		{"location /a/ { if ($args ~ preview) { add_header X-Robots-Tag noindex; } }", "/a/*?*preview noindex", false},
		{"if ($args = '') { add_header X-Robots-Tag noindex; }", "", true},
		{"if ($uri !~ ^/a/) { add_header X-Robots-Tag noindex; }", "not /a/ noindex", false},
		{"http { add_header X-Robots-Tag none; server { add_header X-A b; } server { } }", "* none", false},
		{"http { more_set_headers 'X-Robots-Tag: none'; server { add_header X-A b; } }", "* none", false},
		{"more_set_headers -s 404 'X-Robots-Tag: none';", "", true},
		{"more_clear_headers X-Robots-Tag;", "", true},
		{"location /a { proxy_hide_header X-Robots-Tag; }", "", true},
		{"location /a { content_by_lua_block { ngx.header['X-Robots-Tag'] = 'none' } }", "", true},
		{"location /a { content_by_lua_block { if x then ngx.say('}') end } } add_header X-Robots-Tag none;", "* none", false},
		{"include conf.d/*.conf; add_header X-Robots-Tag none;", "* none", true},
	} {
		got, missing := lines(Import([]byte(tt.config)))
		if strings.Join(got, "|") != tt.want || missing != tt.missing {
			t.Errorf("%s\ngot  %s, missing %v\nwant %s, missing %v\n%s", tt.config, strings.Join(got, "|"), missing, tt.want, tt.missing, text(Import([]byte(tt.config))))
		}
	}
}

// Servers with the same names, at several ports, are one site: a Caddyfile can have
// each name once.
func TestServersWithTheSameNames(t *testing.T) {
	for _, config := range []string{
		"http { add_header X-Robots-Tag none; map $http_user_agent $bad { ~*DotBot 1; }\nserver { server_name a.test b.test; if ($bad) { return 403; } }\n" +
			"server { server_name b.test a.test; if ($bad) { return 403; } location /a { more_set_headers 'X-Robots-Tag: noindex'; } } server { server_name c.test; } }",
		"Header set X-Robots-Tag none\nBrowserMatch DotBot bad\nDeny from env=bad\n<VirtualHost *:80>\nServerName a.test\nServerAlias b.test\n</VirtualHost>\n" +
			"<VirtualHost *:443>\nServerName b.test\nServerAlias a.test\n<LocationMatch ^/a>\nHeader set X-Robots-Tag noindex\n</LocationMatch>\n</VirtualHost>\n<VirtualHost *:443>\nServerName c.test\n</VirtualHost>\n",
	} {
		var got []string
		for _, s := range Import([]byte(config)).Sites {
			if all, _ := lines(Result{Sites: []Site{s}}); len(s.Names) > 0 {
				got = append(got, strings.Join(s.Names, " ")+": "+strings.Join(all, "|"))
			}
		}
		want := []string{"a.test b.test: deny DotBot|* none|/a noindex", "c.test: * none"}
		if strings.HasPrefix(config, "Header") {
			want[1] = "c.test: deny DotBot|* none"
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The rules for a regular expression match all paths that it matches, unless a
// comment says that something is missing, and no others.
func TestPathExpressions(t *testing.T) {
	expressions := []string{`\.pdf$`, `\.(pdf|docx?)$`, `^/a/`, `^/(a|b)/`, `/b/`, `^/a/x$`, `\.php`, `^/b/.*\.pdf$`, `^/.*\.pdf$`, `.*\.pdf$`, `(.+)\.pdf$`, `/x\.pdf$`,
		`^/$`, `^/a$|^/b/`, `(\.pdf|\.php)$`, `\.pdf$|/b/`, `^/a/.*/y`, `a.*b`, `^/(?:a/)?x`, `^(/a|/b)/x\.pdf$`, `x`, `[xy]\.p(df|hp)$`, `^/a/b/[^/]+$`, `^/[ab]/`, `\.pdf/?$`, `/(a|b)/[xy]\.pdf$`,
		``, `^`, `.`, `^/a.x$`, `.pdf$`, `a/?$`, `^.*/b/`, `(?i)\.PDF$`, `^/A/`, `\.$`, `(^|/)x\.pdf$`, `\w+\.pdf$`, `b/.+\.pdf$`}
	paths := []string{"/", "/a", "/a/", "/a/x", "/a/b/", "/a/b/y.pdf", "/a/x.pdf", "/b/x.pdf", "/x.pdf", "/b/", "/b/index.html", "/a/b/c/y", "/ab", "/a.php", "/a/b/c.doc",
		"/c.docx", "/a/x.pdf/", "/b/c/d/e.php", "/x", "/b/x.pdf/a", "/X.PDF", "/A/", "/.pdf", "/b/c/.pdf", "/a-x", "/pdf", "/a%20x"}
	exact := 0
	for _, expr := range expressions {
		for _, modifier := range []string{"~", "~*"} {
			p := pathExpression(expr, modifier == "~*")
			missing := p.unsaid != ""
			for _, n := range p.notes {
				missing = missing || n.Missing
			}
			var rules []headers.Setting
			for _, r := range p.settings {
				r.Directives = headers.ReadDirectives("noindex")
				rules = append(rules, r)
			}
			table, err := headers.Compile(rules)
			if err != nil {
				t.Fatalf("%s: %v", expr, err)
			}
			if !missing {
				exact++
			}
			re := regexp.MustCompile(map[string]string{"~": "", "~*": "(?i)"}[modifier] + expr)
			for _, path := range paths {
				h := http.Header{}
				match := table.Match(path)
				match.Apply(h, 200, nil)
				want, got := re.MatchString(strings.ReplaceAll(path, "%20", " ")), len(h) > 0
				if got && !want || want && !got && !missing {
					t.Errorf("%s %s: %s matches: %v, want %v (%v)", modifier, expr, path, got, want, p)
				}
			}
		}
	}
	if exact < len(expressions) {
		t.Errorf("%d of %d expressions are converted", exact, 2*len(expressions))
	}
}

// check checks that a Caddyfile accepts all lines, and that they mean what the
// rules say.
func check(t *testing.T, config []byte) {
	im := Import(config)
	entries, last := im.Entries, strings.Count(string(config), "\n")+1
	for _, s := range im.Sites {
		entries = append(entries, s.Entries...)
		policy := managed.Policy{}
		for i, line := range s.Policy {
			deny := managed.Deny{Line: i + 1}
			for _, word := range words(t, line)[1:] {
				if word[0] == '/' || word[0] == '*' {
					deny.Paths = append(deny.Paths, word)
				} else {
					deny.Crawlers = append(deny.Crawlers, word)
				}
			}
			policy.Deny = append(policy.Deny, deny)
		}
		if _, err := policy.Compile(crawler.Builtin()); err != nil {
			t.Errorf("%q: %v", s.Policy, err)
		}
	}
	for _, e := range entries {
		if e.Line < 0 || e.Line > last+1 {
			t.Errorf("line %d of %d: %s", e.Line, last, e)
		}
		all := words(t, e.String())
		if e.Comment != "" {
			if len(all) != 0 || strings.Contains(e.String(), "{$") {
				t.Errorf("%q is no comment", e)
			}
			continue
		}
		again, err := headers.ParseSetting(all[1:])
		if again.Kind == "" {
			again.Kind = headers.KindName
		}
		if err != nil || again != e.Rule {
			t.Errorf("%q is %+v, %v; want %+v", e, again, err, e.Rule)
		}
	}
}

// words returns the words of a line of a Caddyfile.
func words(t *testing.T, line string) (all []string) {
	tokens, err := caddyfile.Tokenize([]byte(line+"\n"), "Caddyfile")
	if err != nil {
		t.Errorf("%q: %v", line, err)
	}
	for _, token := range tokens {
		all = append(all, token.Text)
		if token.Line != 1 {
			t.Errorf("%q is several lines", line)
		}
	}
	return all
}

func FuzzImport(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/headers/import/*.conf")
	for _, file := range files {
		if config, err := os.ReadFile(file); err == nil {
			f.Add(config)
		}
	}
	for _, pattern := range []string{"a b", "<<a", "{$x}", "a`b\"", "type", "not", "~", "!a", "\u00a0", "a\\", "#", "ä", "\xff", "*", "?*", "a{2}"} {
		f.Add([]byte(fmt.Sprintf("<Files '%s'>\nHeader set X-Robots-Tag none\n</Files>\n<FilesMatch '%[1]s'>\nHeader set X-Robots-Tag none\n</FilesMatch>\n<Location '/%[1]s'>\nHeader set X-Robots-Tag none\n</Location>", pattern)))
		f.Add([]byte(fmt.Sprintf("location ~ '%s' { add_header X-Robots-Tag none; } location '/%[1]s' { add_header X-Robots-Tag none; if ($http_user_agent ~ '%[1]s|Bot') { return 403; } }", pattern)))
	}
	f.Fuzz(check)
}

// A configuration that would take many steps ends with a comment.
func TestImportIsBounded(t *testing.T) {
	for name, config := range map[string]string{
		"values":      strings.Repeat("SetEnvIf Request_URI a$ x\n", 20_000) + strings.Repeat("Header add X-Robots-Tag none env=x\n", 20_000),
		"words":       strings.Repeat("BrowserMatch \""+strings.Repeat("no|", 1000)+"\" x\n", 100) + "Deny from env=x\n",
		"hosts":       strings.Repeat("Header add X-Robots-Tag none\n", 20_000) + strings.Repeat("<VirtualHost a>\n</VirtualHost>\n", 20_000),
		"servers":     "map $uri $x {" + strings.Repeat("~a$ none;", 1000) + "}" + strings.Repeat("server { add_header X-Robots-Tag $x; }", 10_000),
		"redirects":   strings.Repeat("location ~ a$ { try_files $uri /a; add_header X-Robots-Tag none; }", 20_000),
		"includes":    strings.Repeat("# configuration file a:\ninclude a*; add_header X-Robots-Tag none;\n", 2000),
		"alternative": "location ~ " + strings.Repeat("(a|b)", 1000) + " { add_header X-Robots-Tag none; }",
		"nesting":     strings.Repeat("location /a { ", 100_000) + "add_header X-Robots-Tag none;",
		"sections":    strings.Repeat("<Files a>\n", 100_000) + "Header set X-Robots-Tag none\n",
		"octets":      strings.Repeat("#", maxImport+1),
	} {
		if _, missing := lines(Import([]byte(config))); !missing {
			t.Errorf("%s: there is no comment", name)
		}
	}
}
