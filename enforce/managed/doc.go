// Package managed generates robots.txt lines from a policy by purpose ("no AI
// training, but search yes"), and merges them into a site's own file.
//
//	policy := managed.Policy{Presets: []managed.Preset{{Name: "no-training"}}}
//	lines, err := policy.Compile(crawler.Builtin())
//	...
//	merged, err := lines.Merge(siteFile, robots.RFC9309)
//	...
//	os.Stdout.Write(merged.Text)
//
// The lines are appended to the site's file between two marker comments. A
// merged file is checked before it is returned: each crawler that the policy
// does not name must get the same verdicts and delays as from the site's own
// file. If that can't be shown, Merge returns an error and the site's file
// stays as it is.
//
// The package does not read files, answer requests or decide on requests.
package managed
