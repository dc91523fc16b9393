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
// Before it returns the merged file, it checks the file: each crawler that the
// policy does not apply to must get the same verdicts and limits as from the
// site's own file. If the check fails or can't be completed, Merge returns an
// error, and the caller uses the site's file as it is.
//
// The package does not read files, and does not decide on or answer requests.
package managed
