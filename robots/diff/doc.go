// Package diff compares two robots.txt files. It finds what changes, and for
// which crawlers, when the second file replaces the first. It can also prove
// that nothing changes for some crawlers.
//
//	r := diff.Compare(before, after)
//	for _, c := range r.Changes {
//		fmt.Println(c.Crawlers, c.What, c.Old, "→", c.New, c.Paths)
//	}
//	if !r.Complete {
//		fmt.Println("there may be more")
//	}
//
// Unaffected is for programs that change a file for some crawlers and must not
// change it for others:
//
//	inside := func(token string) bool { return token == "ExampleBot" }
//	if r := diff.Unaffected(before, after, inside, crawlers...); !r.Same() {
//		// Keep the old file. r.Changes has the changes for other crawlers.
//	}
//
// The result is valid for the verdicts of Group.Match, and for those of
// Group.MatchViews without options, which also checks the path as a back end
// serves it. The two files may have different dialects.
package diff
