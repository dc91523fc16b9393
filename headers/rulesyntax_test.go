package headers

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseSetting(t *testing.T) {
	for _, test := range []struct {
		words string
		want  Setting
	}{
		{"*.pdf noindex, nofollow", Setting{Pattern: "*.pdf", Directives: ReadDirectives("noindex, nofollow")}},
		{"*.pdf noindex nofollow", Setting{Pattern: "*.pdf", Directives: ReadDirectives("noindex, nofollow")}},
		{"*.pdf noindex,nofollow max-snippet: 50 unavailable_after: 25 Jun 2027 15:00:00 PST noarchive",
			Setting{Pattern: "*.pdf", Directives: ReadDirectives("noindex, nofollow, max-snippet:50, unavailable_after: 2027-06-25T23:00:00Z, noarchive")}},
		{"*.pdf unavailable_after: Friday, 25-Jun-27 15:00:00 GMT, noindex", Setting{Pattern: "*.pdf", Directives: ReadDirectives("noindex, unavailable_after: 2027-06-25T15:00:00Z")}},
		{`~ \.docx?$ googlebot: noindex`, Setting{Kind: KindRegexp, Pattern: `\.docx?$`, Crawler: "googlebot", Directives: ReadDirectives("noindex")}},
		{"type application/pdf noindex", Setting{Kind: KindType, Pattern: "application/pdf", Directives: ReadDirectives("noindex")}},
		{"status 404 noindex", Setting{Kind: KindStatus, Pattern: "404", Directives: ReadDirectives("noindex")}},
		{"not *.html noindex", Setting{Pattern: "*.html", Not: true, Directives: ReadDirectives("noindex")}},
		{"/drafts/* noindex", Setting{Kind: KindPath, Pattern: "/drafts/*", Directives: ReadDirectives("noindex")}},
		{"*/print/ noindex", Setting{Kind: KindPath, Pattern: "*/print/", Directives: ReadDirectives("noindex")}},
		{"* googlebot: only nofollow", Setting{Pattern: "*", Crawler: "googlebot", Only: true, Directives: ReadDirectives("nofollow")}},
		{"* googlebot:nofollow", Setting{Pattern: "*", Crawler: "googlebot", Directives: ReadDirectives("nofollow")}},
		{"* archive.org_bot: max-snippet:5", Setting{Pattern: "*", Crawler: "archive.org_bot", Directives: ReadDirectives("max-snippet:5")}},
		{"* Sogou web spider: none", Setting{Pattern: "*", Crawler: "Sogou web spider", Directives: ReadDirectives("none")}},
	} {
		got, err := ParseSetting(strings.Fields(test.words))
		if err != nil || got != test.want {
			t.Errorf("ParseSetting(%q) = %+v, %v, want %+v", test.words, got, err, test.want)
			continue
		}
		b, err := json.Marshal(got)
		var again Setting
		if err != nil || json.Unmarshal(b, &again) != nil || again != got {
			t.Errorf("JSON %s is read as %+v, want %+v", b, again, got)
		}
	}
}

func TestParseSettingErrors(t *testing.T) {
	for _, test := range []struct{ words, want string }{
		{"", "no pattern"},
		{"not", "no pattern"},
		{"*.pdf", `no directive after the pattern "*.pdf"`},
		{"*.pdf googlebot:", "no directive"},
		{"*.pdf googlebot: only", "no directive"},
		{"*.pdf noindx", `did you mean "noindex"?`},
		{"*.pdf index, noindex", "contradict"},
		{"*.pdf indexifembedded", "without noindex"},
		{"*.pdf only noindex", `"only" needs a crawler`},
		{"*.pdf googlebot: noindex bingbot: nofollow", `crawler "bingbot" in the middle`},
		{"*.pdf noindex googlebot: nofollow", `crawler "googlebot" in the middle`},
		{"*.pdf max-snipet:50", `did you mean "max-snippet"?`},
		{"*.pdf *: noindex", "leave it out"},
		{"*.pdf robots: noindex", "leave it out"},
		{"*.pdf goo!bot: noindex", `unknown directive "goo!bot"`},
		{`*.(pdf|doc)$ noindex`, "leave the $ out"},
		{`\.pdf$ noindex`, "write ~ before a regular expression"},
		{"*.[Pp][Dd][Ff] noindex", "write ~ before a regular expression"},
		{"drafts/ noindex", "path pattern"},
		{`~ (a noindex`, "regular expression"},
		{`~ a(?!b) noindex`, "RE2 has no look-around"},
		{"~", "empty pattern"},
		{"type pdf noindex", "type/subtype"},
		{"type image noindex", "type/*"},
		{"type aplication/pdf noindex", "known are application, audio"},
		{"type text/html;charset=utf-8 noindex", "without parameters"},
		{"type */* noindex", "is not a media type"},
		{"type application/*+xml noindex", "is not a media type"},
		{"type foo/bar noindex", `there is no "foo"`},
		{"status 40 noindex", `"40" is not a status`},
		{"status 4x4 noindex", `"4x4" is not a status`},
		{"status 999 noindex", `"999" is not a status`},
		{"status 101 noindex", "interim"},
		{"status 304 noindex", "304"},
		{strings.Repeat("a", 3000) + " noindex", "3000 octets"},
	} {
		_, err := ParseSetting(strings.Fields(test.words))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("ParseSetting(%q): error %v, want one with %q", test.words, err, test.want)
		}
	}
	if _, err := Compile(make([]Setting, 1)); err == nil || !strings.Contains(err.Error(), "rule 0: empty pattern") {
		t.Errorf("Compile of the zero Rule: %v", err)
	}
	if _, err := Compile([]Setting{{Kind: "nome", Pattern: "a"}}); err == nil || !strings.Contains(err.Error(), `known are name, path,`) {
		t.Errorf("Compile of an unknown kind: %v", err)
	}
}
