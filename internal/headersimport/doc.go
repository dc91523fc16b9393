// Package headersimport converts a configuration of Apache or nginx to settings
// of the robots directive: headers X-Robots-Tag, line by line, and lists of
// crawlers that are refused by their User-Agent.
//
//	result := headersimport.Import(config)
//	for _, entry := range result.Sites[0].Entries {
//		fmt.Println(entry) // x_robots_tag *.pdf noindex
//	}
//
// It does not simulate how the server chooses a location or merges sections.
// Where the server sends something else, or a line can't be converted, an Entry
// is a comment that says so.
package headersimport
