// Package headersimport converts the directives of Apache and nginx that set
// X-Robots-Tag to rules of package headers, for each site of a configuration.
//
//	result := headersimport.Import(config)
//	for _, rule := range result.Sites[0].Rules {
//		fmt.Println("x_robots_tag", rule.Rule)
//	}
//
// It reads only X-Robots-Tag. What rules can't express exactly is a Problem.
package headersimport
