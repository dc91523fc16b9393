// Package diff tells what crawlers notice when one robots.txt takes another's
// place, and proves that some notice nothing.
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
// change what it says to others:
//
//	if r := diff.Unaffected(before, after, isInside, crawlers...); !r.Same() {
//		// keep the old file: r.Changes says why, or !r.Complete
//	}
//
// Verdicts are compared by the letter of RFC 9309, section 2.2.2 (Group.Match)
// and as a back end serves paths (Group.MatchViews) without options.
package diff
