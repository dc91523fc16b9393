// Package proposal proposes a robots block for a site, from the site's configuration
// and its robots.txt.
//
//	sites, err := allsites.Read(config) // adapted JSON
//	p := proposal.Propose(&sites[0], file, crawler.Builtin(), "")
//	fmt.Print(p.Block)
//
// It reads no files and sends no requests.
package proposal
