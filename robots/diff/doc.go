// Package diff compares two robots.txt files: it finds what changes for which
// crawlers when the second file replaces the first. It can also prove that
// nothing changes for some crawlers.
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
//	if r := diff.Unaffected(before, after, isInside, crawlers...); !r.Same() {
//		// keep the old file: r.Changes says why, or !r.Complete
//	}
//
// Verdicts are compared exactly as RFC 9309, section 2.2.2 defines them
// (Group.Match), and as a back end serves paths (Group.MatchViews without
// options).
package diff
