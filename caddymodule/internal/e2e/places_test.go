package e2e_test

import (
	"strings"
	"testing"
)

// `caddy validate` finds what only the places of the robots handlers show.
func TestValidateChecksThePlacesOfHandlers(t *testing.T) {
	t.Parallel()
	const (
		inline    = "source inline \"User-agent: *\"\n"
		verified  = "robots {\n" + inline + "verify {\n}\n}\n"
		plain     = "robots {\n" + inline + "}\n"
		unreached = "no request reaches this robots handler"
		meet      = "robots: requests can reach two handlers: "
		maybe     = "requests may reach two robots handlers"
		field     = "remove the rewrite to the URI in"
		keptOut   = "` keeps out the address 192.0.2.1"
	)
	const cdn = "@other not remote_ip 198.51.100.0/24\n"
	at := func(handler, matcher string) string {
		return strings.Replace(handler, "robots {", "robots "+matcher+" {", 1)
	}
	for _, tt := range []struct {
		name, site string
		problem    string // in an error
		warning    string
	}{
		{name: "a policy that can't be published", site: "handle /x/* {\nrobots {\npolicy no-ai\n}\nrespond page\n}", problem: "a matcher of path or method keeps requests for /robots.txt from this handler"},
		{name: "a policy behind not", site: "@m not path /robots.txt\nrobots @m {\npolicy no-ai\n}\nrespond page", problem: "a matcher of path or method keeps requests for /robots.txt from this handler"},
		{name: "a policy for POST", site: "@m method POST\nrobots @m {\npolicy no-ai\n}\nrespond page", problem: "a matcher of path or method keeps requests for /robots.txt from this handler"},
		{name: "a policy for another path inside not", site: "@m not path /x/*\nrobots @m {\npolicy no-ai\n}\nrespond page"},
		{name: "a policy of a site with a handle block", site: "handle /x/* {\nrespond page\n}\nhandle {\nrobots {\npolicy no-ai\n}\nrespond page\n}"},

		{name: "two for all requests", site: "route {\n" + plain + verified + "respond page\n}", problem: meet},
		{name: "equal ones", site: "route {\n" + plain + plain + "respond page\n}", problem: meet},
		{name: "one inside handle", site: plain + "handle /api/* {\n" + plain + "respond page\n}\nrespond page", problem: "of shop.test (no matcher) and of shop.test (path /api/*)"},
		{name: "a narrow handler, which Caddy puts first", site: at(plain, "/x/*") + verified + "respond page", problem: "of shop.test (path /x/*) and of shop.test (no matcher). Only the first decides"},
		{name: "a matcher of which nobody knows, and none", site: "@x expression `true`\nroute {\n" + at(plain, "@x") + verified + "respond page\n}", problem: meet},
		{name: "an expression that excludes the other", site: "@x expression path('/x/*')\n@rest not path /x/*\n" + at(plain, "@x") + at(verified, "@rest") + "respond page", warning: maybe},
		{name: "a regular expression that excludes the other", site: "@x path_regexp ^/x/\n@rest not path /x/*\n" + at(plain, "@x") + at(verified, "@rest") + "respond page", warning: maybe},
		{name: "one address, and one path", site: "@x remote_ip 192.0.2.1\n@y path /y/*\n" + at(plain, "@x") + at(verified, "@y") + "respond page", warning: maybe},
		{name: "one in an error route", site: plain + "respond page\nhandle_errors {\n" + plain + "respond error\n}", warning: maybe},
		{name: "disjoint paths", site: at(plain, "/x/*") + at(verified, "/y/*") + "respond page"},
		{name: "opposite matchers", site: "@x path /x/*\n@rest not path /x/*\n" + at(plain, "@x") + at(verified, "@rest") + "respond page"},
		{name: "a matcher that contains the other's opposite", site: "@x path /x/*\n@rest not path /x*\n" + at(plain, "@x") + at(verified, "@rest") + "respond page"},
		{name: "a matcher that does not contain it", site: "@x path /x*\n@rest not path /x/*\n" + at(plain, "@x") + at(verified, "@rest") + "respond page", warning: maybe},
		{name: "other methods", site: "@x method GET HEAD\n@rest method POST\n" + at(plain, "@x") + at(verified, "@rest") + "respond page"},
		{name: "one common method", site: "@x method GET HEAD\n@rest method POST HEAD\n" + at(plain, "@x") + at(verified, "@rest") + "respond page", warning: maybe},
		{name: "a path inside the other's", site: at(plain, "/x/y/*") + at(verified, "/x/*") + "respond page", problem: meet},
		{name: "hosts that the other excludes", site: "respond page\n}\nhttp://:1 {\n@x host x.test\n@rest not host y.test x.test\n" + at(plain, "@x") + at(verified, "@rest") + "respond page"},
		{name: "a host that a pattern excludes", site: "respond page\n}\nhttp://:1 {\n@x host a.x.test\n@rest not host *.x.test\n" + at(plain, "@x") + at(verified, "@rest") + "respond page"},
		{name: "a host that is not excluded", site: "respond page\n}\nhttp://:1 {\n@x host x.test z.test\n@rest not host y.test x.test\n" + at(plain, "@x") + at(verified, "@rest") + "respond page", warning: maybe},
		{name: "a superset of the addresses", site: "@x remote_ip 10.1.0.0/16 192.168.0.1\n@rest not remote_ip 10.0.0.0/8 192.168.0.0/16\n" + at(plain, "@x") + at(verified, "@rest") + "respond page"},
		{name: "a subset of the addresses", site: "@x remote_ip 10.0.0.0/8\n@rest not remote_ip 10.1.0.0/16\n" + at(plain, "@x") + at(verified, "@rest") + "respond page", warning: maybe},
		{name: "other addresses", site: "@x remote_ip 10.0.0.0/8\n@rest remote_ip 192.168.0.0/16\n" + at(plain, "@x") + at(verified, "@rest") + "respond page"},
		{name: "with and without TLS", site: "@x protocol http\n@rest protocol https\n" + at(plain, "@x") + at(verified, "@rest") + "respond page"},
		{name: "headers of which nobody knows", site: "@x header Cookie a\n@rest header Cookie b\n" + at(plain, "@x") + at(verified, "@rest") + "respond page", warning: maybe},
		{name: "a path that a block strips", site: at(plain, "/x/*") + "handle_path /x/* {\n" + at(verified, "/y/*") + "respond page\n}", warning: maybe},
		{name: "a path that is rewritten", site: "route {\n" + at(plain, "/x/*") + "uri replace /x/ /y/\n" + at(verified, "/y/*") + "respond page\n}", warning: maybe},
		{name: "a path that is rewritten in another block", site: "route {\n" + at(plain, "/x/*") + "handle /z/* {\nuri replace /x/ /y/\n}\nhandle {\n" + at(verified, "/y/*") + "respond page\n}\n}"},
		{name: "blocks of which a request takes one", site: "handle /x/* {\n" + plain + "respond page\n}\nhandle {\n" + verified + "respond page\n}"},
		{name: "a block that answers", site: "route {\nroute /x/* {\n" + plain + "respond page\n}\n" + verified + "respond page\n}"},
		{name: "a block that passes on", site: "route {\nroute /x/* {\n" + plain + "}\n" + verified + "respond page\n}", problem: meet},
		{name: "a named route", site: "route {\n" + plain + "invoke shared\nrespond page\n}\n}\n&(shared) {\n" + verified, warning: maybe},
		{name: "a policy in a named route", site: "handle /x/* {\ninvoke shared\n}\nrespond page\n}\n&(shared) {\nrobots {\npolicy no-ai\n}\n", warning: "in a named route"},
		{name: "two sites", site: plain + "respond page\n}\nhttp://other.test:1 {\n" + verified + "respond page"},

		{name: "a rewrite to the URI in a field", site: "route {\nrewrite * {header.X-Forwarded-Uri}\n" + plain + "respond page\n}", warning: "write forwarded_request x_forwarded in the robots block"},
		{name: "a rewrite that Caddy puts behind", site: "rewrite * {header.X-Original-URI}\n" + plain + "respond page", warning: "write forwarded_request x_original in the robots block"},
		{name: "a rewrite in another block", site: "handle /x/* {\nrewrite * {header.X-Forwarded-Uri}\nrespond page\n}\nhandle {\n" + plain + "respond page\n}"},
		{name: "forwarded_request without trusted_proxies", site: strings.Replace(plain, "{", "{\nforwarded_request x_forwarded", 1) + "respond page", warning: "forwarded_request needs trusted_proxies"},
		{name: "a rewrite with forwarded_request off", site: "rewrite * {header.X-Forwarded-Uri}\n" + strings.Replace(plain, "{", "{\nforwarded_request off", 1) + "respond page", warning: field},

		{name: "abort for other addresses", site: cdn + "abort @other\nrobots\nrespond page", warning: "`not remote_ip 198.51.100.0/24" + keptOut},
		{name: "403 for other addresses", site: cdn + "respond @other 403\nrobots\nrespond page", warning: keptOut},
		{name: "an error for other addresses", site: cdn + "error @other 403\nrobots\nrespond page", warning: keptOut},
		{name: "a redirect of other addresses", site: cdn + "redir @other https://cdn.test{uri}\nrobots\nrespond page", warning: keptOut},
		{name: "a block that aborts other addresses", site: cdn + "handle @other {\nabort\n}\nhandle {\nrobots\nrespond page\n}", warning: keptOut},
		{name: "a block for some addresses", site: "@cdn remote_ip 198.51.100.0/24\nhandle @cdn {\nrobots\nrespond page\n}\nhandle {\nabort\n}", warning: "`remote_ip 198.51.100.0/24" + keptOut},
		{name: "other addresses by client_ip", site: "@other not client_ip 198.51.100.0/24 2001:db8::/32 203.0.113.0/24\nabort @other\nrobots\nrespond page", warning: "`not client_ip 198.51.100.0/24 2001:db8::/32 …" + keptOut},
		{name: "addresses that are refused", site: "@bad remote_ip 198.51.100.0/24\nabort @bad\nrobots\nrespond page"},
		{name: "other addresses, and the reader's is let through", site: "@other not remote_ip 198.51.100.0/24 192.0.2.1/32\nabort @other\nrobots\nrespond page"},
		{name: "other addresses, but for /robots.txt", site: "@other {\nnot remote_ip 198.51.100.0/24\nnot path /robots.txt\n}\nabort @other\nrobots\nrespond page"},
		{name: "other addresses, and a source that needs no read", site: cdn + "abort @other\n" + plain + "respond page"},

		{name: "behind file_server", site: "route {\nfile_server\n" + plain + "}", warning: unreached},
		{name: "behind file_server with pass_thru", site: "route {\nfile_server {\npass_thru\n}\n" + plain + "}"},
		{name: "behind forward_auth", site: "route {\nforward_auth localhost:9 {\nuri /\n}\n" + plain + "respond page\n}"},
		{name: "behind an answer for some paths", site: "route {\nrespond /x page\n" + plain + "respond page\n}"},
		{name: "behind a block that takes all", site: "route {\nhandle {\nrespond page\n}\nhandle /x/* {\n" + plain + "}\n}", warning: unreached},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			shared, site := "", tt.site
			if before, after, ok := strings.Cut(site, "&(shared)"); ok {
				shared, site = "&(shared)"+after+"}\n", strings.TrimSuffix(before, "}\n")
			}
			out, problems, _, err := command(t, shared+"http://shop.test:1 {\n"+site+"\n}\n", "validate")
			message := out + problems
			if (err != nil) != (tt.problem != "") || !strings.Contains(message, tt.problem) || !strings.Contains(message, tt.warning) {
				t.Errorf("want the error %q and the warning %q: %v\n%s", tt.problem, tt.warning, err, message)
			}
			if tt.warning == "" && (strings.Contains(message, unreached) || strings.Contains(message, maybe) || strings.Contains(message, field) || strings.Contains(message, keptOut)) {
				t.Errorf("a warning:\n%s", message)
			}
		})
	}
}
