// Package diff compares two robots.txt files. It finds what changes, and for
// which crawlers, when the second file replaces the first.
//
//	r := diff.Compare(before, after)
//	for _, c := range r.Changes {
//		fmt.Println(c.Crawlers, c.What, c.Old, "→", c.New, c.Paths)
//	}
//	if !r.Complete {
//		fmt.Println("there may be more")
//	}
//
// The result is valid for the verdicts of Group.Match, and for those of
// Group.MatchViews without options, which also checks the path as a back end
// serves it. The two files may have different dialects.
package diff
