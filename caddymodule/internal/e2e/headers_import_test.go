package e2e_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/headers"
)

const (
	ahrefsbot  = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
	semrushbot = "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"
	dotbot     = "Mozilla/5.0 (compatible; DotBot/1.2; +https://opensiteexplorer.org/dotbot; help@moz.com)"
)

// importTest compares a server with what headers-import makes of its
// configuration.
type importTest struct {
	program string   // the server
	args    []string // CONF is its configuration
	config  string   // in testdata/headers/import
	routes  string   // of Caddy, which answer as the server does
	files   string   // to create in the folder of the site
	// urls are compared for each client: with a URL may be the text of the
	// comments about it, if the converted rules send more, or less.
	urls []importURL
}

type importURL struct{ path, ua, more, less string }

// A page that Apache or nginx sends with X-Robots-Tag has the same directives
// with the converted rules. A comment says where the rules send more, or where a
// line is not converted. Crawlers that these servers refuse are refused.
func TestHeadersImportAgainstRealServers(t *testing.T) {
	t.Parallel()
	const errors = "errors such as 404"
	for _, tt := range []importTest{
		{
			program: "/usr/sbin/apache2", args: []string{"-DFOREGROUND", "-f", "CONF"}, config: "served-apache.conf",
			routes: "handle_path /manuals* {\n\t\troot DIR/manuals\n\t\tfile_server\n\t}\n\thandle {\n\t\troot DIR/www\n\t\tfile_server {\n\t\t\tindex index.html start.html\n\t\t}\n\t}",
			files: `www/index.html www/page.html www/a.zip www/a.csv www/feeds/a.xml www/feeds/index.html www/public/index.html www/public/a.html
				manuals/a.html manuals/b/a.pdf www/docs/index.html www/docs/a.html www/docs/a.txt www/docs/b/c.html www/a.pdf www/a.PDF www/b/a.pdf
				www/a.doc www/a.DOCX www/b/a.xlsx www/a.docs www/report-1.txt www/report-a.txt www/b/report-22.txt www/secret-a.txt www/secret-ab.txt
				www/start/start.html www/drafts/a.html www/drafts/a.pdf www/old/b/a.txt www/older/a.txt www/b/print/a.html www/print/a.html
				www/private/a.txt www/private/b/a.txt www/private/a.html www/year/2026/a.html www/year/x/a.html www/shop/index.html www/shop/a.pdf
				www/shopping/a.html www/open/a.html www/open/a.pdf`,
			urls: []importURL{
				{path: "/", more: "answers the URL of a folder"}, {path: "/", ua: googlebot}, {path: "/page.html"}, {path: "/page.html", ua: googlebot}, {path: "/page.html?a=/x.pdf"},
				{path: "/a.zip"}, {path: "/a.zip?download"}, {path: "/a.csv"}, {path: "/page.html?print=1"}, {path: "/page.html?x&print=1"}, {path: "/feeds/a.xml", less: "line 45: not converted"}, {path: "/feeds/", more: "answers the URL of a folder", less: "line 45: not converted"},
				{path: "/public/", more: "answers the URL of a folder"}, {path: "/public/a.html"}, {path: "/public/a.html", ua: googlebot},
				{path: "/manuals/a.html", less: "line 60: not converted"}, {path: "/manuals/b/a.pdf"},
				{path: "/docs/", more: "answers the URL of a folder"}, {path: "/docs/a.html"}, {path: "/docs/a.txt"}, {path: "/docs/b/c.html"},
				{path: "/a.pdf"}, {path: "/a.pdf", ua: googlebot, more: "<Files *.pdf> (line 67)"}, {path: "/a.PDF"}, {path: "/b/a.pdf"}, {path: "/b/a.pdf?x=1"},
				{path: "/a.doc"}, {path: "/a.DOCX"}, {path: "/b/a.xlsx"}, {path: "/a.docs"},
				{path: "/report-1.txt"}, {path: "/report-a.txt"}, {path: "/b/report-22.txt"}, {path: "/secret-a.txt"}, {path: "/secret-ab.txt"},
				{path: "/start/"}, {path: "/start/start.html"}, {path: "/drafts/a.html"}, {path: "/drafts/a.pdf"},
				{path: "/old/b/a.txt"}, {path: "/older/a.txt"}, {path: "/b/print/a.html"}, {path: "/print/a.html"}, {path: "/page.html?from=/print/", more: "line 86: a * of the pattern"},
				{path: "/private/a.txt"}, {path: "/private/b/a.txt?x"}, {path: "/private/a.html"}, {path: "/year/2026/a.html", less: "line 92: not converted"}, {path: "/year/x/a.html"},
				{path: "/shop/"}, {path: "/shop/a.pdf", more: "<Location /shop> (line 94)"}, {path: "/shopping/a.html"}, {path: "/open/a.html", more: "line 98: not converted: Header unset"}, {path: "/open/a.pdf", more: "<Location /open/> (line 97)"},
				{path: "/missing.html", more: errors}, {path: "/missing.pdf", more: errors}, {path: "/missing.doc", more: errors},
				{path: "/page.html", ua: ahrefsbot}, {path: "/page.html", ua: semrushbot}, {path: "/page.html", ua: dotbot}, {path: "/shop/a.pdf", ua: dotbot},
				{path: "/page.html", ua: "NoSuchBot/1.0", less: "line 27: not converted"},
			},
		},
		{
			program: "/usr/sbin/nginx", args: []string{"-c", "CONF"}, config: "served-nginx.conf",
			routes: "root DIR/www\n\thandle /app/* {\n\t\ttry_files {path} /front.html\n\t\tfile_server\n\t}\n\thandle /named/* {\n\t\t@file file\n\t\thandle @file {\n\t\t\tfile_server\n\t\t}\n\t\thandle {\n\t\t\trespond named\n\t\t}\n\t}\n\thandle {\n\t\tfile_server {\n\t\t\tindex index.html start.html\n\t\t}\n\t}",
			files: `www/index.html www/page.html www/a.zip www/a.ZIP www/feeds/a.xml www/feeds/a.zip www/exactly www/public/a.html www/a.pdf www/public/a.pdf
				www/a.doc www/a.DOCX www/report-1.txt www/report-a.txt www/b/xreport-22.txt www/drafts/a.html www/drafts/a.doc www/styles/a.css www/styles/a.docx
				www/docs/index.html www/docs/a.html www/docs/a.txt www/docs/open/a.txt www/docs/open/a.html www/contact.html www/contacts.html www/old/a.html www/older/a.doc
				www/b/print/a.html www/print/a.html www/private/a.txt www/private/b/a.txt www/private/a.html www/year/2026/a.html www/year/x/a.html
				www/start/start.html www/app/file.html www/front.html www/named/file.html www/agent/a.html www/query/a.html www/query/index.html`,
			urls: []importURL{
				{path: "/"}, {path: "/", ua: googlebot}, {path: "/page.html"}, {path: "/page.html", ua: googlebot}, {path: "/page.html?a=/x.pdf"},
				{path: "/a.zip"}, {path: "/a.ZIP"}, {path: "/feeds/a.xml"}, {path: "/feeds/a.zip", more: "line 46: the server sends only one"}, {path: "/exactly"}, {path: "/exactly?x"},
				{path: "/public/a.html"}, {path: "/public/a.html", ua: googlebot}, {path: "/a.pdf"}, {path: "/public/a.pdf"},
				{path: "/a.doc", more: "(line 53)"}, {path: "/a.DOCX", more: "(line 53)"}, {path: "/report-1.txt", more: "(line 54)"}, {path: "/report-a.txt"}, {path: "/b/xreport-22.txt", more: "(line 54)"},
				{path: "/drafts/a.html", more: "(line 55)"}, {path: "/drafts/a.doc", more: "(line 55)"}, {path: "/styles/a.css", more: "(line 56)"}, {path: "/styles/a.docx", more: "(line 56)"},
				{path: "/docs/", more: "(line 59)"}, {path: "/docs/a.html", more: "(line 59)"}, {path: "/docs/a.txt", more: "(line 57)"}, {path: "/docs/open/a.txt", more: "(line 60)"}, {path: "/docs/open/a.html", more: "(line 59)"},
				{path: "/contact.html", more: "(line 62)"}, {path: "/contacts.html"}, {path: "/old/a.html", more: "(line 63)"}, {path: "/older/a.doc", more: "(line 53)"},
				{path: "/b/print/a.html", more: "(line 64)"}, {path: "/print/a.html", more: "(line 64)"}, {path: "/page.html?from=/print/", more: "line 64: a * of the pattern"},
				{path: "/private/a.txt", more: "(line 65)"}, {path: "/private/b/a.txt?x", more: "(line 65)"}, {path: "/private/a.html"}, {path: "/year/2026/a.html", more: "(line 66)", less: "line 66: not converted"}, {path: "/year/x/a.html"},
				{path: "/start/", more: "(line 67)"}, {path: "/start/start.html", more: "(line 67)"}, {path: "/app/x", more: "(line 69)"}, {path: "/app/file.html", more: "try_files (line 68) answers"}, {path: "/front.html", more: "(line 69)"},
				{path: "/named/x", more: "location @named (line 71)", less: "line 71: not converted"}, {path: "/named/file.html"}, {path: "/query/a.html"}, {path: "/query/a.html?print=1", more: "(line 77)"}, {path: "/query/a.html?x&print=1", more: "(line 77)"}, {path: "/query/a.html?sprint=1"}, {path: "/query/?print=1", more: "(line 77)"}, {path: "/agent/a.html"}, {path: "/agent/a.html", ua: bingbot, more: "(line 74)"}, {path: "/agent/a.html", ua: dotbot},
				{path: "/missing.html", more: errors}, {path: "/missing.doc", more: errors}, {path: "/page.html", ua: dotbot},
				{path: "/page.html", ua: ahrefsbot}, {path: "/page.html", ua: semrushbot}, {path: "/page.html", ua: "Mozilla/5.0 (compatible;PetalBot;+https://webmaster.petalsearch.com/site/petalbot)"},
				{path: "/page.html", ua: "NoSuchBot/1.0", less: "line 51: not converted"},
			},
		},
	} {
		t.Run(filepath.Base(tt.program), func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(tt.program); err != nil {
				t.Logf("%s is not installed: nothing is tested", tt.program)
				return
			}
			tt.run(t)
		})
	}
}

// directivesFor returns the directives in the response for a client: those for
// all crawlers, and those for the crawler that it is.
func directivesFor(ua string, h http.Header) (list string) {
	for _, tag := range headers.ReadTags(h.Values("X-Robots-Tag")) {
		if tag.Crawler == "" || strings.Contains(strings.ToLower(ua), strings.ToLower(tag.Crawler)) {
			list += ", " + tag.Directives.String()
		}
	}
	return list
}

// implies reports whether directives are the same as others or more restrictive:
// together with these, they mean the same.
func implies(there, others string) bool {
	return headers.ReadDirectives(there+others) == headers.ReadDirectives(there)
}

func (tt *importTest) run(t *testing.T) {
	dir, port := t.TempDir(), freePort(t)
	for file := range strings.FieldsSeq(tt.files) {
		writeFile(t, filepath.Join(dir, file), file)
	}
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o755) // the server may run as another user
	})
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(root(t), "testdata/headers/import", tt.config))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "server.conf")
	writeFile(t, file, strings.NewReplacer("/srv/test", dir, "8099", fmt.Sprint(port)).Replace(string(config)))

	args := strings.Split(strings.ReplaceAll(strings.Join(tt.args, "\n"), "CONF", file), "\n")
	theirs := exec.Command(tt.program, args...)
	var output strings.Builder
	theirs.Stderr = &output
	if err := theirs.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = theirs.Wait(); close(exited) }()
	t.Cleanup(func() { _ = theirs.Process.Signal(os.Interrupt); <-exited })

	imported, err := exec.Command(binary, "robots", "headers-import", file).Output()
	if exit, is := err.(*exec.ExitError); !is || exit.ExitCode() != 2 {
		t.Fatalf("headers-import: %v", err)
	}
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n"+string(imported)+"\t}\n\t"+strings.ReplaceAll(tt.routes, "DIR", dir)+"\n}\n")
	base := fmt.Sprintf("http://localhost:%d", port)
	s.eventually("the other server is up", func() bool {
		select {
		case <-exited:
			t.Fatalf("%s ended: %s", tt.program, output.String())
		default:
		}
		_, err := send(client, http.MethodGet, base+"/", chrome, "", nil)
		return err == nil
	})
	for _, u := range tt.urls {
		ua := u.ua
		if ua == "" {
			ua = chrome
		}
		want, got := s.do(http.MethodGet, base+u.path, ua, "", nil), s.get(ua, u.path)
		what := fmt.Sprintf("%s for %.40s", u.path, ua)
		if want.status/100 != got.status/100 {
			if want.status/100 != 4 || u.less == "" || !strings.Contains(string(imported), u.less) {
				t.Errorf("%s: status %d, want %d", what, got.status, want.status)
			}
			continue
		}
		sent, converted := directivesFor(ua, want.header), directivesFor(ua, got.header)
		for _, difference := range []struct {
			name, comment string
			found         bool
		}{
			{"less", u.less, !implies(converted, sent)},
			{"more", u.more, !implies(sent, converted)},
		} {
			if difference.found != (difference.comment != "") || !strings.Contains(string(imported), difference.comment) {
				t.Errorf("%s: the converted rules send %s: %v, want %q; theirs %q, ours %q", what, difference.name, difference.found, difference.comment,
					want.header.Values("X-Robots-Tag"), got.header.Values("X-Robots-Tag"))
			}
		}
	}
	if t.Failed() {
		t.Logf("imported:\n%s", imported)
	}
}
