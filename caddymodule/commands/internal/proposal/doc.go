// Package proposal proposes a robots block for a site, from the site's configuration
// and its robots.txt.
//
//	sites, err := allsites.Read(config) // adapted JSON
//	block, notes := proposal.Propose(&sites[0], file, suggestions)
//	fmt.Print(block, notes)
//
// It reads no files and sends no requests.
package proposal
