package headers_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/headers"
)

func Example() {
	var list []headers.Setting
	for _, line := range []string{
		`*.pdf noindex, nofollow`,
		`/drafts/* googlebot: nosnippet`,
		`status 4xx noindex`,
	} {
		rule, err := headers.ParseSetting(strings.Fields(line))
		if err != nil {
			fmt.Println(err)
			return
		}
		list = append(list, rule)
	}
	rules, err := headers.Compile(list)
	if err != nil {
		fmt.Println(err)
		return
	}
	h := http.Header{"X-Robots-Tag": {"noarchive"}} // from the back end
	match := rules.Match("/drafts/report.pdf?download")
	match.Apply(h, http.StatusOK, nil)
	fmt.Println(strings.Join(h.Values("X-Robots-Tag"), "\n"))
	// Output:
	// noarchive
	// noindex, nofollow
	// googlebot: nosnippet
}

func ExampleParseSetting_error() {
	_, err := headers.ParseSetting([]string{"*.pdf", "noindx"})
	fmt.Println(err)
	_, err = headers.ParseSetting([]string{"type", "image", "noindex"})
	fmt.Println(err)
	// Output:
	// unknown directive "noindx"; did you mean "noindex"?
	// "image" is not a media type; write it as type/subtype or type/*, without parameters, such as application/pdf
}

func ExampleParseDirectives() {
	d, err := headers.ParseDirectives("NoIndex, unavailable_after: Friday, 25-Jun-27 15:00:00 PST")
	fmt.Println(d, err)
	_, err = headers.ParseDirectives("index, noindex")
	fmt.Println(err)
	// Output:
	// noindex, unavailable_after: 2027-06-25T23:00:00Z <nil>
	// index and noindex contradict each other; keep the one that you mean
}

func ExampleAddTags() {
	h := http.Header{"X-Robots-Tag": {"googlebot: nofollow", "index, max-snippet:50"}} // from the back end
	headers.AddTags(h, []headers.Tag{{Directives: headers.ReadDirectives("noindex")}})
	fmt.Println(strings.Join(h.Values("X-Robots-Tag"), "\n"))
	// Output:
	// max-snippet:50
	// noindex
	// googlebot: nofollow
}

func ExampleReadTags() {
	for _, tag := range headers.ReadTags([]string{"noarchive, googlebot: none", "Googlebot: nosnippet"}) {
		fmt.Printf("%q: %v\n", tag.Crawler, tag.Directives)
	}
	// Output:
	// "": noarchive
	// "googlebot": none, nosnippet
}

func ExampleAddVary() {
	h := http.Header{"Vary": {"Accept-Encoding"}}
	headers.AddVary(h, "User-Agent")
	headers.AddVary(h, "user-agent")
	fmt.Println(h["Vary"])
	// Output: [Accept-Encoding User-Agent]
}

func ExampleCompileSignals() {
	signals := headers.CompileSignals(
		[]string{"search=yes, ai-train=no"}, nil, []string{"https://example.com/license.xml"})
	h := http.Header{}
	signals.Apply(h, "/article", http.StatusOK)
	fmt.Println(h.Get("Content-Signal"), h.Get("Link"))
	// Output: search=yes, ai-train=no <https://example.com/license.xml>; rel="license"
}

func ExampleRetryAfter() {
	fmt.Println(headers.RetryAfter(1200 * time.Millisecond))
	// Output: 2
}
