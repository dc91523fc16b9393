// Package proposal looks at a site as it is configured and at its robots.txt,
// and proposes a robots block for it.
//
//	sites, err := proposal.Read(config) // adapted JSON
//	p := sites[0].Propose(file, crawler.Builtin())
//	fmt.Print(p.Block)
//
// It reads no file and asks nobody.
package proposal
