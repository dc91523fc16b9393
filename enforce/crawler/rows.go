package crawler

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// Limits of a registry file and of its rows. The built-in registry is far below each.
const (
	maxRows      = 10_000 // of a file
	maxTokens    = 64     // User-Agent tokens of a row; also robots.txt tokens of a row
	maxTokenSize = 100    // octets of a token or of a crawler's name
	maxPurposes  = 8      // of a row
)

// fileRow is a row of the registry file. Its own fields take the place of those of
// the Crawler.
type fileRow struct {
	Crawler
	Class      string   `json:"class"`
	Star       string   `json:"star"`
	CrawlDelay string   `json:"crawl_delay"`
	Reads      string   `json:"reads"`
	Lacks      []string `json:"lacks"`
}

// facts are the fields of a row that `unverified` can name.
var facts = []string{"operator", "purposes", "class", "run_by", "user_agents", "robots", "star", "crawl_delay", "reads", "lacks", "verify"}

// ReadRows parses a registry file: one JSON object per line. It ignores empty lines and lines that begin with `#`. The fields:
//
//	name         required, unique
//	operator     who runs it
//	purposes     see [Purpose]; the main one first
//	class        "crawler" (default), "user-triggered", "scraper", "webhook" (the default for that purpose), "probe",
//	             "program", "library" or "app" (an app that people use: no group applies to it, whatever words its name has)
//	run_by       "operator": the operator's own machines; "anyone": anyone who installs the software, so rate limits count each client address
//	             separately; default: not known (see [Agent.RunByAnyone])
//	user_agents  tokens that it sends in its User-Agent, whole words or, with a hyphen at the end, beginnings of words; default: the name
//	shared       further tokens, which apps of the same name send too: they count only if nothing indicates a person
//	robots       product tokens of the robots.txt groups that it obeys, most specific first; default: the first of user_agents
//	star         "yes", "no", "unknown" (default): whether it obeys the group for `*`
//	crawl_delay  "yes", "no", "unknown" (default): whether it honours Crawl-delay, in any group that applies to it
//	reads        "google": it parses robots.txt with google/robotstxt; "rfc9309" (default)
//	control_only true for a preference: a robots.txt token that no client sends; it has no user_agents and no shared
//	verify       {"hosts": [], "host_masks": [], "ranges": [], "signature_agents": []}, see [Verify]
//	sources      {"robots": ["https://…"], …}: the documents that state each fact; "purposes.ai-search" is the key for one purpose of several
//	lacks        ["wildcards", "allow"]: what its robots.txt parser does not support
//	unverified   ["star", …]: facts that no document of the operator confirms
//	checked      "2026-11-21": the day on which the documents in sources were read
//
// An error begins with the number of the line. ReadRows checks each row alone; [Registry.With] checks that no two rows have the same name
// or the same User-Agent token.
func ReadRows(data []byte) ([]Crawler, error) {
	return readRows(data, (*Crawler).check, atLine)
}

func atLine(line int, _ string, err error) error { return fmt.Errorf("line %d: %w", line, err) }

// readRows parses the rows of a registry file, and checks each of them with check, which may be nil. It calls refuse for a row that is
// not valid, with its line and the crawler's name, and stops at the first error that refuse returns.
func readRows(data []byte, check func(*Crawler) error, refuse func(line int, name string, err error) error) (rows []Crawler, err error) {
	line, n := 0, 0
	for raw := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		line++
		text := bytes.TrimSpace(raw)
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if n++; n > maxRows {
			return nil, fmt.Errorf("line %d: a registry file can have at most %d rows", line, maxRows)
		}
		row, err := readRow(text)
		if err == nil && check != nil {
			if wrong := check(&row); wrong != nil {
				err = fmt.Errorf("crawler %q: %w", row.Name, wrong)
			}
		}
		if err == nil {
			rows = append(rows, row)
		} else if err = refuse(line, row.Name, err); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func readRow(text []byte) (Crawler, error) {
	var f fileRow
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Crawler{}, fmt.Errorf("parsing the row as JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Crawler{}, errors.New("text follows the closing brace: write each row on a line of its own")
	}
	c := f.Crawler
	c.ReadsGoogle = f.Reads == "google"
	c.LacksWildcards, c.LacksAllow = slices.Contains(f.Lacks, "wildcards"), slices.Contains(f.Lacks, "allow")
	var errs [5]error
	c.Class, errs[0] = f.class()
	c.Star, errs[1] = parseTri(f.Star)
	c.CrawlDelay, errs[2] = parseTri(f.CrawlDelay)
	errs[3] = oneOf("rfc9309", "google", cmp.Or(f.Reads, "rfc9309"))
	errs[4] = oneOf("wildcards", "allow", f.Lacks...)
	for i, field := range [...]string{"class", "star", "crawl_delay", "reads", "lacks"} {
		if errs[i] != nil {
			return Crawler{}, fmt.Errorf("crawler %q: %s: %w", f.Name, field, errs[i])
		}
	}
	if c.UserAgents == nil && c.Shared == nil && !c.ControlOnly {
		c.UserAgents = []string{c.Name}
	}
	if tokens := c.Tokens(); c.Robots == nil && len(tokens) > 0 {
		c.Robots = tokens[:1]
	}
	return c, nil
}

// oneOf returns an error for a word that is neither a nor b.
func oneOf(a, b string, words ...string) error {
	for _, word := range words {
		if word != a && word != b {
			return fmt.Errorf("unknown value %q: write %q or %q", word, a, b)
		}
	}
	return nil
}

func (f *fileRow) class() (Class, error) {
	switch {
	case f.Class != "":
		return ParseClass(f.Class)
	case slices.Contains(f.Purposes, WebhookEvent):
		return Webhook, nil
	}
	return Registered, nil
}

// check returns an error if the row is not valid. It does not compare it with other rows.
func (c *Crawler) check() error {
	switch {
	case strings.TrimSpace(c.Name) == "":
		return errors.New("name is empty: write the crawler's name")
	case len(c.Name) > maxTokenSize:
		return fmt.Errorf("name has %d octets: the limit is %d", len(c.Name), maxTokenSize)
	case !c.Class.inRegistry():
		return fmt.Errorf("a crawler of the registry can't have class %q: the classes of a registry are %s", c.Class, registryClasses)
	case len(c.Purposes) > maxPurposes:
		return fmt.Errorf("there are %d purposes: the limit is %d", len(c.Purposes), maxPurposes)
	case (c.Class == Webhook) != slices.Equal(c.Purposes, []Purpose{WebhookEvent}):
		return fmt.Errorf("class is %q and the purposes are %q: if one of them is \"webhook\", write only \"webhook\" for both", c.Class,
			c.Purposes)
	case c.ControlOnly && len(c.UserAgents)+len(c.Shared) > 0:
		return errors.New("control_only: a token that no client sends can't have user_agents or shared: remove them")
	case !c.ControlOnly && len(c.UserAgents)+len(c.Shared) == 0 && !slices.Contains(c.Unverified, "user_agents"):
		return errors.New("user_agents is empty: write at least one token, or add \"user_agents\" to unverified")
	case len(c.Robots) == 0:
		return errors.New("robots is empty: write the product tokens of the robots.txt groups that the crawler obeys")
	case len(c.UserAgents)+len(c.Shared) > maxTokens || len(c.Robots) > maxTokens:
		return fmt.Errorf("there are %d User-Agent tokens and %d robots.txt tokens: the limit is %d each", len(c.UserAgents)+len(c.Shared),
			len(c.Robots), maxTokens)
	}
	if err := oneOf(string(ByOperator), string(ByAnyone), string(cmp.Or(c.RunBy, ByAnyone))); err != nil {
		return fmt.Errorf("run_by: %w", err)
	}
	if err := checkTokens(c.UserAgents, c.Class != App); err != nil {
		return fmt.Errorf("user_agents: %w", err)
	}
	if err := checkTokens(c.Shared, false); err != nil {
		return fmt.Errorf("shared: %w", err)
	}
	if c.ControlOnly && slices.ContainsFunc(c.Robots, BrowserWord) {
		return errors.New("robots: control_only: browsers send one of these words, so people would count as robots")
	}
	if err := checkTokens(c.Robots, false); err != nil {
		return fmt.Errorf("robots: %w", err)
	}
	for _, fact := range c.Unverified {
		if !slices.Contains(facts, fact) {
			return fmt.Errorf("unverified: unknown field %q: write one of %s", fact, strings.Join(facts, ", "))
		}
	}
	return nil
}

func checkTokens(tokens []string, userAgents bool) error {
	seen := make(map[string]bool, len(tokens))
	for _, token := range tokens {
		key := canonical.Lower(token)
		switch {
		case seen[key]:
			return fmt.Errorf("the token %q is listed twice: remove one", token)
		case len(token) > maxTokenSize:
			return fmt.Errorf("the token %q has %d octets: the limit is %d", token, len(token), maxTokenSize)
		case !validToken(token):
			return fmt.Errorf("the token %q is not valid: it must be printable ASCII, begin with a letter, a digit, \"-\" or "+
				"\"_\", and not end with a space", token)
		case userAgents && BrowserWord(token):
			return fmt.Errorf("browsers send the word %q, so people would count as this crawler: write it under \"shared\", "+
				"where it counts only if nothing indicates a person", token)
		}
		seen[key] = true
	}
	return nil
}

// validToken reports whether a token can match: printable ASCII that begins with a letter, a digit, `-` or `_` and does not end with a
// space.
func validToken(token string) bool {
	if token == "" || wordByte[token[0]] == 0 || token[len(token)-1] == ' ' {
		return false
	}
	for i := range len(token) {
		if token[i] < ' ' || token[i] > '~' {
			return false
		}
	}
	return true
}
