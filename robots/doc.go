// Package robots is the language of robots.txt: RFC 9309, what came before
// it, and what real files have on top of it.
//
// Parse reads a file, whatever it holds, into a File. File.Group returns the
// Group that is for a crawler, and Group.Match or Group.MatchViews its
// Verdict on a request target, with the rule and line that decided. Rules
// are compiled when the file is parsed: a match allocates nothing, and its cost
// follows the length of the target, not the number of rules.
//
//	f := robots.Parse(data)
//	g := f.Group("Googlebot-Image", "Googlebot")
//	if v := g.Match("/private/x.html"); !v.Allowed {
//		log.Printf("disallowed by line %d: %s", v.Line(), v.Rule)
//	}
//
// The package does not fetch files, does not find out which crawler sent a
// request, and does not count requests.
package robots
