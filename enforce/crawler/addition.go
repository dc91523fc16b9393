package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// Refusal is a row of an added registry file that is not used, with the reason.
type Rejection struct {
	Name   string // the crawler's name; "line 7" if the row can't be parsed
	Reason string
}

// String returns the name and the reason.
func (r Rejection) String() string { return fmt.Sprintf("crawler %q: %s", r.Name, r.Reason) }

// ReadAdditions parses rows like [ReadRows], but it leaves out rows that are not valid and returns the reason for each. It returns an
// error, and no rows, if no row is valid or the file has more than 10,000.
func ReadAdditions(data []byte) ([]Crawler, []Rejection, error) {
	var refused []Rejection
	rows, err := readRows(data, (*Crawler).check, func(line int, name string, err error) error {
		refused = append(refused, Rejection{cmp.Or(name, fmt.Sprintf("line %d", line)), err.Error()})
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = errors.New("the file has no valid row")
		if len(refused) > 0 {
			err = fmt.Errorf("%w; the first row: %v", err, refused[0])
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return rows, refused, nil
}

// Extend returns a registry with rows added, and the rows that it refuses. It is
// for rows from a third party, which must not be able to block a known crawler:
//
//   - A row with the name of a crawler in r changes nothing. Extend refuses it if
//     its facts differ.
//   - Extend refuses a row if one of its User-Agent tokens belongs to a crawler in
//     r, contains such a token, or would match people's User-Agents. The same
//     applies to the robots.txt tokens of a preference (control_only).
//   - Extend refuses apps, which no group binds, and tokens that begin the names of
//     a family.
//   - The User-Agent tokens count like those of [Crawler.Shared]: where something
//     in the field indicates a person, only a token with a word such as bot counts.
//
// r itself does not change.
func (r *Registry) Extend(rows []Crawler) (*Registry, []Rejection) {
	all := make([]Crawler, len(r.rows), len(r.rows)+len(rows))
	for i, c := range r.rows {
		all[i] = *c
	}
	var refused []Rejection
	names, tokens := map[string]bool{}, map[string]string{}
	for i := range rows {
		row := &rows[i]
		if known := r.byName[canonical.Lower(row.Name)]; known != nil {
			if factsOf(known) != factsOf(row) {
				refused = append(refused, Rejection{row.Name, "the crawler is in the registry already, and added rows can't change its facts"})
			}
			continue
		}
		if reason := r.refuse(row, names, tokens); reason != "" {
			refused = append(refused, Rejection{row.Name, reason})
			continue
		}
		names[canonical.Lower(row.Name)] = true
		for _, token := range claimed(row) {
			tokens[canonical.Lower(token)] = row.Name
		}
		added := *row
		added.UserAgents, added.Shared = nil, row.Tokens()
		all = append(all, added)
	}
	if len(all) == len(r.rows) {
		return r, refused
	}
	extended, err := newRegistry(all)
	if err != nil { // can't happen: each row was checked, alone and against the others
		return r, append(refused, Rejection{"", err.Error()})
	}
	return extended, refused
}

// refuse returns why a row can't be added; "" if it can. names and tokens are those of the rows before it.
func (r *Registry) refuse(row *Crawler, names map[string]bool, tokens map[string]string) string {
	if err := row.check(); err != nil {
		return err.Error()
	}
	if names[canonical.Lower(row.Name)] {
		return "an earlier row has the same name"
	}
	if row.Class == App {
		return "an app is bound by no group, so only a file and the configuration can add one"
	}
	var id Identity
	for _, token := range claimed(row) {
		if strings.HasSuffix(token, "-") {
			return fmt.Sprintf("the User-Agent token %q begins the names of a family: only a file and the configuration can add one", token)
		}
		if other := tokens[canonical.Lower(token)]; other != "" {
			return fmt.Sprintf("the User-Agent token %q already belongs to crawler %q", token, other)
		}
		r.base.Identify(token, &id)
		for _, a := range id.Agents() {
			if a.Crawler != nil {
				return fmt.Sprintf("the User-Agent token %q is, or contains, a token of crawler %q", token, a.Crawler.Name)
			}
		}
		if other := cmp.Or(r.byUA[canonical.Lower(token)], r.byBots[canonical.Lower(token)]); other != nil &&
			(row.ControlOnly || other.ControlOnly || r.byUA[canonical.Lower(token)] != nil) {
			return fmt.Sprintf("the token %q already belongs to crawler %q", token, other.Name)
		}
		if BrowserWord(token) || !hasLetter(token) {
			return fmt.Sprintf("browsers or apps send the User-Agent token %q", token)
		}
	}
	return ""
}

// hasLetter reports whether a token has a letter. Others are versions and numbers.
func hasLetter(token string) bool {
	return strings.ContainsFunc(token, func(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' })
}

// claimed returns the tokens that no other row may have: a preference must not
// take away the group of a crawler.
func claimed(row *Crawler) []string {
	if row.ControlOnly {
		return row.Robots
	}
	return row.Tokens()
}

// factsOf returns what a row says about its crawler, to compare it with another row.
func factsOf(c *Crawler) string {
	sorted := func(tokens []string) []string { return slices.Sorted(slices.Values(tokens)) }
	return canonical.Lower(fmt.Sprint(c.Purposes, c.Class, c.RunBy, sorted(c.UserAgents), sorted(c.Shared), c.Robots, c.Star, c.CrawlDelay,
		c.ReadsGoogle, c.LacksWildcards, c.LacksAllow, c.ControlOnly, c.Verify))
}
