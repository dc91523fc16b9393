package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/gaissmai/bart"
	"golang.org/x/net/html"
)

// Limits of the prefixes of a list, and of the number of addresses in all of
// them. A list with more addresses would not identify a crawler.
const (
	minBits4, minBits6 = 8, 20   // bits of a prefix, at least
	maxSize4           = 1 << 26 // addresses: four times as many as 17.0.0.0/8, the widest block that an operator documents
	maxSize6           = 1 << 47 // /64 networks: eight times as many as in a /20
)

// list is a published list of addresses. It is immutable.
type list struct {
	table        *bart.Lite
	size4, size6 float64 // IPv4 addresses, IPv6 /64 networks; overlapping prefixes count twice
}

func (l *list) entries() int { return l.table.Size() }

// contains reports whether addr is in the list. addr must not be IPv4 in IPv6 form.
func (l *list) contains(addr netip.Addr) bool { return l.table.Contains(addr) }

// parseList parses a list, or only a part of it (see readPrefixes). It returns an error if the list is not plausible by
// itself or in comparison with old, the list in use, which may be nil.
func parseList(body []byte, part string, old *list) (*list, error) {
	prefixes, err := readPrefixes(body, part)
	if err != nil {
		return nil, err
	}
	l := &list{table: new(bart.Lite)}
	for _, p := range prefixes {
		if slices.ContainsFunc(specialPrefixes, p.Overlaps) {
			return nil, fmt.Errorf("%s contains private or reserved addresses", p)
		}
		size, bits, least := &l.size6, 64, minBits6
		if p.Addr().Is4() {
			size, bits, least = &l.size4, 32, minBits4
		}
		if p.Bits() < least {
			return nil, fmt.Errorf("%s is too wide: a prefix must have at least %d bits", p, least)
		}
		*size += math.Exp2(float64(bits - p.Bits()))
		l.table.Insert(p)
	}
	if l.size4 > maxSize4 || l.size6 > maxSize6 {
		return nil, errors.New("the prefixes contain too many addresses: the limits are 2^26 IPv4 addresses and 2^47 IPv6 /64 networks")
	}
	if old != nil && l.farFewer(old) {
		return nil, fmt.Errorf("the list has %d prefixes, far fewer than the list in use, which has %d", l.entries(), old.entries())
	}
	return l, nil
}

// farFewer reports whether more than half of the prefixes and of the addresses are gone. Prefixes that were joined into wider ones have as
// many addresses as before.
func (l *list) farFewer(old *list) bool {
	return old.entries() >= 4 && l.entries()*2 < old.entries() && (l.size4*2 < old.size4 || l.size6*2 < old.size6)
}

// maxPrefixes is the maximum number of prefixes of a list. The longest known list has 1,300.
const maxPrefixes = 100_000

// readPrefixes parses a published list of addresses:
//   - JSON with `prefixes` (`ipv4Prefix`, `ipv6Prefix`), as most operators publish it
//   - JSON with `ips` (Ahrefs)
//   - either of them inside an HTML page (Amazon)
//   - lines of an HTML page that have only an address and a host name (Kagi)
//   - plain text with a prefix or an address at the beginning of each line, then perhaps a comma and more columns; `#` begins a comment
//
// If part is not "", only that member of a JSON object counts (the list of GitHub has the addresses of other services too); `*` stands for
// every member. An address counts as a prefix of one address, and IPv4 in IPv6 form as IPv4. One value that is not a prefix is an error.
func readPrefixes(body []byte, part string) ([]netip.Prefix, error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	var list prefixes
	var err error
	switch {
	case len(body) == 0:
	case body[0] == '{' || body[0] == '[':
		err = list.readJSON(body, part)
	case body[0] == '<':
		err = list.readHTML(body)
	default:
		err = list.readLines(body)
	}
	if err == nil && len(list) == 0 {
		err = errors.New("the document has no prefixes")
	}
	return list, err
}

// prefixes are those of a document, in their order.
type prefixes []netip.Prefix

// arrayKeys are the members of a document that can have arrays of entries. prefixKeys are the members of an entry that can have a prefix,
// if the entry is an object.
var (
	arrayKeys = []string{"prefixes", "ips", "ip_ranges", "ranges", "addresses", "ipv4", "ipv6", "ipv6_prefixes", "prefixes_ipv4",
		"prefixes_ipv6"}
	prefixKeys = []string{"ipv4Prefix", "ipv6Prefix", "ip_address", "ip_prefix", "ipv6_prefix", "ip", "cidr", "prefix"}
)

// readJSON adds those of a JSON document: an array of entries, or an object with such arrays.
func (l *prefixes) readJSON(body []byte, part string) error {
	arrays := []json.RawMessage{body}
	if body[0] != '[' {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			return fmt.Errorf("parsing JSON: %w", err)
		}
		keys := arrayKeys
		switch {
		case part == "*":
			keys = slices.Sorted(maps.Keys(members))
		case part != "" && members[part] == nil:
			return fmt.Errorf("the document has no member %q", part)
		case part != "":
			return l.readJSON(members[part], "")
		}
		arrays = nil
		for _, key := range keys {
			arrays = append(arrays, members[key])
		}
	}
	for _, array := range arrays {
		var entries []json.RawMessage
		if err := json.Unmarshal(array, &entries); err != nil && body[0] == '[' {
			return fmt.Errorf("parsing JSON: %w", err)
		}
		for _, entry := range entries {
			if err := l.addEntry(entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// addEntry adds those of an entry: a string, or an object with at least one of prefixKeys.
func (l *prefixes) addEntry(entry json.RawMessage) error {
	var text string
	if json.Unmarshal(entry, &text) == nil {
		return l.add(text)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(entry, &members); err != nil {
		return fmt.Errorf("the entry %.100q is neither a string nor an object", entry)
	}
	before := len(*l)
	for _, key := range prefixKeys {
		if raw, ok := members[key]; !ok || json.Unmarshal(raw, &text) != nil {
			continue
		}
		if err := l.add(text); err != nil {
			return err
		}
	}
	if len(*l) == before {
		return fmt.Errorf("the entry %.100q has no prefix: it must have one of %s", entry, strings.Join(prefixKeys, ", "))
	}
	return nil
}

// add parses a prefix or an address and adds it.
func (l *prefixes) add(text string) error {
	if len(*l) == maxPrefixes {
		return fmt.Errorf("the document has more than %d prefixes", maxPrefixes)
	}
	text = strings.TrimSpace(text)
	p, err := netip.ParsePrefix(text)
	if err != nil {
		addr, addrErr := netip.ParseAddr(text)
		if addrErr != nil || addr.Zone() != "" {
			return fmt.Errorf("%.100q is not a prefix or an address", text)
		}
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return fmt.Errorf("%s is too wide: a prefix in IPv4-in-IPv6 form must have at least 96 bits", p)
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	*l = append(*l, p.Masked())
	return nil
}

// readHTML finds a JSON object with `prefixes` in the text of a page, and adds those in it.
func (l *prefixes) readHTML(body []byte) error {
	var text bytes.Buffer
	z := html.NewTokenizer(bytes.NewReader(body))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind == html.TextToken {
			text.Write(z.Text())
		}
	}
	rest := text.Bytes()
	for range 16 {
		at := bytes.Index(rest, []byte(`"prefixes"`))
		if at < 0 {
			break
		}
		if start := bytes.LastIndexByte(rest[:at], '{'); start >= 0 {
			var value json.RawMessage
			if json.NewDecoder(bytes.NewReader(rest[start:])).Decode(&value) == nil {
				return l.readJSON(value, "")
			}
		}
		rest = rest[at+1:]
	}
	for line := range bytes.Lines(text.Bytes()) {
		if words := strings.Fields(string(line)); len(words) == 2 && strings.Contains(words[1], ".") {
			if addr, err := netip.ParseAddr(words[0]); err == nil {
				if err := l.add(addr.String()); err != nil {
					return err
				}
			}
		}
	}
	if len(*l) == 0 {
		return errors.New("the document is a web page without a JSON list of prefixes, and without lines of an address and a host name")
	}
	return nil
}

// readLines adds those of plain text.
func (l *prefixes) readLines(body []byte) error {
	number := 0
	for line := range bytes.Lines(body) {
		number++
		text, _, _ := strings.Cut(string(line), "#")
		if text, _, _ = strings.Cut(text, ","); strings.TrimSpace(text) == "" {
			continue
		}
		if err := l.add(text); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}
