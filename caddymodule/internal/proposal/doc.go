// Package proposal proposes a robots block for a site, from the site's configuration
// and its robots.txt.
//
//	sites, err := proposal.Read(config) // adapted JSON
//	p := sites[0].Propose(file, crawler.Builtin(), "")
//	fmt.Print(p.Block)
//
// It reads no files and sends no requests.
package proposal
