package headersimport_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/internal/headersimport"
)

func ExampleImport() {
	im := headersimport.Import([]byte("<Files ~ \"\\.pdf$\">\n" +
		"  Header set X-Robots-Tag \"noindex, nofollow\"\n" +
		"</Files>\n" +
		"Header set X-Robots-Tag \"noindex\" env=STAGING\n"))
	for _, site := range im.Sites {
		for _, r := range site.Rules {
			fmt.Println("x_robots_tag", r.Rule)
		}
	}
	for _, p := range im.AllProblems() {
		fmt.Println(p)
	}
	// Output:
	// x_robots_tag ~ \.pdf$ noindex, nofollow
	// line 4: not converted: it has the condition env=STAGING
}

func ExampleImport_sites() {
	im := headersimport.Import([]byte("server { server_name example.com; location /drafts/ { add_header X-Robots-Tag noindex; } }\n" +
		"server { server_name staging.example.com; add_header X-Robots-Tag none; }\n"))
	for _, site := range im.Sites {
		for _, r := range site.Rules {
			fmt.Println(site.Names, r.Rule)
		}
	}
	// Output:
	// [example.com] /drafts/ noindex
	// [staging.example.com] * none
}
