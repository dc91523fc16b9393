package headersimport_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/internal/headersimport"
)

func ExampleImport() {
	im := headersimport.Import([]byte("<Files ~ \"\\.pdf$\">\n" +
		"  Header always set X-Robots-Tag \"noindex, nofollow\"\n" +
		"</Files>\n" +
		"Header always set X-Robots-Tag \"noindex\" env=staging\n"))
	for _, entry := range im.Sites[0].Entries {
		fmt.Println(entry)
	}
	// Output:
	// # Apache merges sections in the order Directory, Files, Location, If, and a later Header set or unset overrides; here, all lines that match a request apply to it. Check these: <Files ~ \.pdf$> (line 1)
	// x_robots_tag ~ \.pdf$ noindex, nofollow
	// # line 4: not converted: the condition env=staging
}
