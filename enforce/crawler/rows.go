package crawler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Bounds of a registry file and of its rows. The built-in registry uses a small part of each.
const (
	MaxRows      = 10_000
	MaxTokens    = 64  // User-Agent tokens of a row, and robots.txt tokens
	MaxTokenSize = 100 // octets
)

// fileRow is a row of the registry file: one JSON object on a line of its own.
type fileRow struct {
	Name        string              `json:"name"`
	Operator    string              `json:"operator"`
	Purpose     Purpose             `json:"purpose"`
	Class       string              `json:"class"`
	RunBy       string              `json:"run_by"`
	ControlOnly bool                `json:"control_only"`
	UserAgents  []string            `json:"user_agents"`
	Shared      []string            `json:"shared"`
	Robots      []string            `json:"robots"`
	Star        string              `json:"star"`
	CrawlDelay  string              `json:"crawl_delay"`
	Reads       string              `json:"reads"`
	Lacks       []string            `json:"lacks"`
	Verify      *fileVerify         `json:"verify"`
	Unverified  []string            `json:"unverified"`
	Checked     string              `json:"checked"`
	Sources     map[string][]string `json:"sources"`
}

type fileVerify struct {
	Hosts           []string `json:"hosts"`
	HostMasks       []string `json:"host_masks"`
	Ranges          []string `json:"ranges"`
	ASN             []int    `json:"asn"`
	SignatureAgents []string `json:"signature_agents"`
}

// facts are the fields of a row that Sources and Unverified may speak of.
var facts = []string{"operator", "purpose", "class", "run_by", "user_agents", "robots", "star", "crawl_delay", "reads", "lacks", "verify"}

// ReadRows reads a registry file: one JSON object a line, empty lines and lines that begin with `#` left out. The fields:
//
//	name         required, unique
//	operator     who runs it
//	purpose      see [Purpose]
//	class        "crawler" (default), "user-triggered", "offline", "webhook" (the default for that purpose) or "library"
//	run_by       "operator": the operator's own machines; "anyone": whoever installs the software, which is counted per client address
//	user_agents  tokens by which it names itself; default: the name
//	shared       more tokens, which apps of that name send as well: they count where nothing else speaks for a person
//	robots       robots.txt groups that it obeys, most specific first; default: the first of user_agents
//	star         "yes", "no": whether the group for `*` binds it
//	crawl_delay  "yes", "no": whether it honours Crawl-delay
//	reads        "google": reads robots.txt with google/robotstxt; "rfc9309" (default)
//	control_only true for a robots.txt token that arrives in no request; user_agents stays empty then
//	verify       {"hosts": [], "host_masks": [], "ranges": [], "asn": [], "signature_agents": []}
//	sources      {"robots": ["https://…"], …}: where each fact comes from
//	lacks        ["wildcards", "allow"]: what its robots.txt parser does not support
//	unverified   ["star", …]: facts that no document confirms
//	checked      "2026-11-21": the day on which the documents in sources were read
//
// An error begins with the number of the line. Whether the rows go together is checked by [Registry.With].
func ReadRows(data []byte) ([]Crawler, error) {
	var rows []Crawler
	err := eachRow(data, func(line int, text []byte) error {
		row, err := readRow(text)
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// eachRow calls do with each row of a registry file and the number of its line, until an error.
func eachRow(data []byte, do func(line int, text []byte) error) error {
	line, rows := 0, 0
	for raw := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		line++
		text := bytes.TrimSpace(raw)
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if rows++; rows > MaxRows {
			return fmt.Errorf("line %d: more than %d crawlers", line, MaxRows)
		}
		if err := do(line, text); err != nil {
			return err
		}
	}
	return nil
}

func readRow(text []byte) (Crawler, error) {
	var f fileRow
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Crawler{}, fmt.Errorf("reading the row: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Crawler{}, errors.New("a row must be one line: there is text after the closing brace")
	}
	c := Crawler{
		Name: f.Name, Operator: f.Operator, Purpose: f.Purpose, Class: Registered, ControlOnly: f.ControlOnly,
		UserAgents: f.UserAgents, Shared: f.Shared, Robots: f.Robots, Sources: f.Sources, Unverified: f.Unverified, Checked: f.Checked,
	}
	if v := f.Verify; v != nil {
		c.Verify = Verify{Hosts: v.Hosts, HostMasks: v.HostMasks, Ranges: v.Ranges, ASN: v.ASN, SignatureAgents: v.SignatureAgents}
	}
	var err error
	switch {
	case f.Class == "" && f.Purpose == WebhookEvent:
		c.Class = Webhook
	case f.Class != "":
		if c.Class, err = ParseClass(f.Class); err != nil {
			return Crawler{}, fmt.Errorf("crawler %q: class: %w", f.Name, err)
		}
	}
	if c.RunBy, err = ParseRunBy(f.RunBy); err != nil {
		return Crawler{}, fmt.Errorf("crawler %q: run_by: %w", f.Name, err)
	}
	if c.Star, err = parseTri(f.Star); err != nil {
		return Crawler{}, fmt.Errorf("crawler %q: star: %w", f.Name, err)
	}
	if c.CrawlDelay, err = parseTri(f.CrawlDelay); err != nil {
		return Crawler{}, fmt.Errorf("crawler %q: crawl_delay: %w", f.Name, err)
	}
	switch f.Reads {
	case "", "rfc9309":
	case "google":
		c.ReadsGoogle = true
	default:
		return Crawler{}, fmt.Errorf("crawler %q: reads: unknown reading %q of robots.txt: use \"rfc9309\" or \"google\"", f.Name, f.Reads)
	}
	for _, lack := range f.Lacks {
		switch lack {
		case "wildcards":
			c.LacksWildcards = true
		case "allow":
			c.LacksAllow = true
		default:
			return Crawler{}, fmt.Errorf("crawler %q: lacks: unknown part of robots.txt %q: use \"wildcards\" or \"allow\"", f.Name, lack)
		}
	}
	if c.UserAgents == nil && c.Shared == nil && !c.ControlOnly {
		c.UserAgents = []string{c.Name}
	}
	if tokens := c.Tokens(); c.Robots == nil && len(tokens) > 0 {
		c.Robots = tokens[:1]
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("crawler %q: %w", c.Name, err)
	}
	return c, nil
}

// check tells what is wrong with a row by itself.
func (c *Crawler) check() error {
	switch {
	case strings.TrimSpace(c.Name) == "":
		return errors.New("a name is required")
	case len(c.Name) > MaxTokenSize:
		return fmt.Errorf("the name is longer than %d octets", MaxTokenSize)
	case !c.Class.inRegistry():
		return fmt.Errorf("class %q is for clients outside the registry: use \"crawler\", \"user-triggered\", \"offline\", \"webhook\" or \"library\"", c.Class)
	case (c.Class == Webhook) != (c.Purpose == WebhookEvent):
		return fmt.Errorf("class %q does not go with purpose %q: the class and the purpose \"webhook\" go together", c.Class, c.Purpose)
	case c.ControlOnly && len(c.UserAgents)+len(c.Shared) > 0:
		return errors.New("a token that arrives in no request (control_only) has no user_agents")
	case !c.ControlOnly && len(c.UserAgents)+len(c.Shared) == 0 && !slices.Contains(c.Unverified, "user_agents"):
		return errors.New("user_agents is empty: name the tokens, or say that they are unverified")
	case len(c.Robots) == 0:
		return errors.New("robots is empty: name the robots.txt groups that it obeys")
	case len(c.UserAgents)+len(c.Shared) > MaxTokens || len(c.Robots) > MaxTokens:
		return fmt.Errorf("more than %d tokens", MaxTokens)
	}
	if err := checkTokens(c.UserAgents, true); err != nil {
		return fmt.Errorf("user_agents: %w", err)
	}
	if err := checkTokens(c.Shared, false); err != nil {
		return fmt.Errorf("shared: %w", err)
	}
	if err := checkTokens(c.Robots, false); err != nil {
		return fmt.Errorf("robots: %w", err)
	}
	if c.Checked != "" {
		if _, err := time.Parse(time.DateOnly, c.Checked); err != nil {
			return fmt.Errorf("checked: %q is no day: write it as 2026-11-21", c.Checked)
		}
	}
	for _, fact := range c.Unverified {
		if !slices.Contains(facts, fact) {
			return fmt.Errorf("unverified: there is no field %q", fact)
		}
	}
	for fact := range c.Sources {
		if !slices.Contains(facts, fact) {
			return fmt.Errorf("sources: there is no field %q", fact)
		}
	}
	return nil
}

func checkTokens(tokens []string, userAgents bool) error {
	seen := make(map[string]bool, len(tokens))
	for _, token := range tokens {
		key := fold(token)
		switch {
		case seen[key]:
			return fmt.Errorf("the token %q is there twice", token)
		case len(token) > MaxTokenSize:
			return fmt.Errorf("the token %q is longer than %d octets", token, MaxTokenSize)
		case !tokenShaped(token):
			return fmt.Errorf("the token %q must begin and end with a letter or a digit and hold printable ASCII only", token)
		case userAgents && BrowserWord(token):
			return fmt.Errorf("browsers send the word %q: people would be taken for this crawler; as a token in \"shared\" it counts only where nothing else speaks for a person", token)
		}
		seen[key] = true
	}
	return nil
}

// tokenShaped reports whether a token can match at all: printable ASCII that begins with a word character and doesn't end in a blank.
func tokenShaped(token string) bool {
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
