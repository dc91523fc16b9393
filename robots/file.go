package robots

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// File is a parsed robots.txt file. It does not change after Parse. All methods
// are safe for concurrent use. The caller must not change the slices that they
// return.
type File struct {
	text      string
	dialect   Dialect
	truncated bool
	star      *Group
	named     []namedGroup // sorted
	tokens    []string
	*otherLines
}

// otherLines has what few files have.
type otherLines struct {
	words    []string
	licenses []License
	signals  []PreferenceLine // outside any group
	usages   []PreferenceLine // the same
}

// noOtherLines is shared by all files that have none.
var noOtherLines otherLines

// Bytes returns a copy of the octets that were read. This is the whole file,
// unless it is Truncated.
func (f *File) Bytes() []byte { return []byte(f.text) }

// Size returns the number of octets that were read.
func (f *File) Size() int { return len(f.text) }

// Dialect returns the dialect in which the file was parsed.
func (f *File) Dialect() Dialect { return f.dialect }

// Truncated reports whether the file was larger than the limit, so that its end
// was ignored.
func (f *File) Truncated() bool { return f.truncated }

// Named returns the group of the User-agent lines that name a product token,
// and nil if there is none. It never returns the group for `*`. It ignores case
// and a version: "examplebot/2.0" is the same as ExampleBot. If no line names
// the token, but it is the first word of longer tokens, Named returns a group
// with the lines for all of these: for "sogou", those for "Sogou web spider" and
// for "Sogou inst spider" (see Words). Named allocates nothing.
func (f *File) Named(token string) *Group {
	g, _ := f.NamedAs(token)
	return g
}

// NamedAs is Named. It also returns the token as the file writes it.
func (f *File) NamedAs(token string) (g *Group, written string) {
	if i := strings.IndexByte(token, '/'); i >= 0 {
		token = strings.TrimRight(token[:i], " ")
	}
	if i, ok := slices.BinarySearchFunc(f.named, token, namedGroup.compare); ok {
		return f.named[i].group, f.named[i].token
	}
	return nil, ""
}

// namedGroup is a product token, or the first word of one, and its group.
type namedGroup struct {
	token string // as written
	group *Group
}

// compare compares the token with another one, ignoring case.
func (n namedGroup) compare(token string) int {
	for i := range min(len(n.token), len(token)) {
		if a, b := canonical.LowerOctet(n.token[i]), canonical.LowerOctet(token[i]); a != b {
			return int(a) - int(b)
		}
	}
	return len(n.token) - len(token)
}

// maxToken is the maximal length of a product token, in octets. The parser
// ignores longer ones.
const maxToken = 128

// Star returns the group for `*`, which applies to all crawlers that no other
// group names. It returns nil if there is none.
func (f *File) Star() *Group { return f.star }

// Group returns the group that applies to a crawler. The arguments are the
// product tokens of the crawler, in the order of precedence that its operator
// documents, such as Googlebot-Image, Googlebot. Group returns the group of the
// first token that has one. If none has one, it returns the group for `*`, or
// nil if there is none.
func (f *File) Group(tokens ...string) *Group {
	for _, token := range tokens {
		if g := f.Named(token); g != nil {
			return g
		}
	}
	return f.star
}

// Groups returns all groups in the order of the file, including the group for
// `*`. Crawlers that are named together everywhere in the file share one Group.
func (f *File) Groups() []*Group {
	var all []*Group
	seen := map[*Group]bool{}
	add := func(g *Group) {
		if g != nil && !seen[g] {
			seen[g] = true
			all = append(all, g)
		}
	}
	add(f.star)
	for _, t := range f.tokens {
		add(f.Named(t))
	}
	slices.SortStableFunc(all, func(a, b *Group) int { return a.line - b.line })
	return all
}

// Tokens returns the product tokens that User-agent lines name, as written but
// without versions (see ProductToken). It leaves out `*`, and returns each
// token once.
func (f *File) Tokens() []string { return f.tokens }

// Words returns the first word of each product token that has several words, in
// lower case: "sogou" for "Sogou web spider". Named also returns a group for such
// a word. Words leaves out a word that a User-agent line names as a token.
func (f *File) Words() []string { return f.words }

// Licenses returns the License lines.
func (f *File) Licenses() []License { return f.licenses }

// ContentSignals returns the Content-Signal lines outside any group, which apply
// to all crawlers. It returns only the first 16.
func (f *File) ContentSignals() []PreferenceLine { return f.signals }

// ContentUsage returns the Content-Usage lines outside any group, which apply to
// all crawlers. It returns only the first 16.
func (f *File) ContentUsage() []PreferenceLine { return f.usages }

// Line returns a line of the file by its number, from 1.
func (f *File) Line(number int) (Line, bool) {
	for l := range f.Lines() {
		if l.Number == number {
			return l, true
		}
	}
	return Line{}, false
}

// Allowed reports whether the crawler with the given product token may fetch a
// URL (see Group.Match). The URL is absolute, or a path with its query; any other
// text counts as a path (see Views.Reset). Allowed does not check whether the
// file applies to the host of the URL.
func (f *File) Allowed(token, url string) bool { return f.Match(url, token).Allowed }

// Match returns the verdict on a URL for a crawler that obeys the given product
// tokens (see Group for their order). The URL is as for Allowed.
func (f *File) Match(url string, tokens ...string) Verdict { return f.Group(tokens...).Match(url) }
