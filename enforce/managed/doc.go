// Package managed makes the lines of a robots.txt from a policy by purpose
// ("no AI training, but search yes"), and merges them into a site's own file.
//
//	policy := managed.Policy{Presets: []managed.Preset{{Name: "no-training"}}}
//	lines, err := policy.Compile(crawler.Builtin())
//	...
//	merged, err := lines.Merge(siteFile, robots.RFC9309)
//	...
//	os.Stdout.Write(merged.Text)
//
// The lines are appended to the site's file between two marker comments. A
// merged file is proved before it is returned: for no crawler outside the
// policy may a verdict or a delay differ from what the site's own file says.
// Where that can't be shown, Merge returns an error and the site's file stays
// as it is.
//
// The package reads no file, serves nothing and decides about no request.
package managed
