// Package managed generates robots.txt lines from a policy by purpose ("no AI
// training, but search yes"), and merges them into a site's own file.
//
//	policy := managed.Policy{Presets: []managed.Preset{{Name: "no-training"}}}
//	lines, err := policy.Compile(crawler.Builtin())
//	...
//	merged, err := lines.Merge(siteFile, new(enforce.Settings))
//	...
//	os.Stdout.Write(merged.Text())
//
// Merge appends the lines to the site's file, between two marker comments.
// Each crawler that the policy does not apply to gets the same verdicts and limits
// as from the site's own file; a test checks this with package diff.
//
// The package does not read files, and does not decide on or answer requests.
package managed
