package headers

import "regexp"

// nameRegexp is a regular expression that is searched for in a file name.
type nameRegexp struct{ re *regexp.Regexp }

func newNameRegexp(re *regexp.Regexp) *nameRegexp { return &nameRegexp{re} }

func (n *nameRegexp) match(name string) bool { return n.re.MatchString(name) }
