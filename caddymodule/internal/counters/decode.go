package counters

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// decodeFile reads a file, even a damaged one. If there is an error, the file has what could
// be read: what is before the place where the JSON breaks, without values that don't have the
// form of this version.
func decodeFile(r io.Reader) (*file, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if len(text) > maxFile {
		err = fmt.Errorf("it is larger than %d octets", maxFile)
	}
	f := new(file)
	value, end, broken := repaired(text)
	wrong := json.Unmarshal(value, f) // goes on after a value of another type
	invalid := f.removeInvalid()
	sum := string(bytes.TrimSpace(text[end:]))
	switch {
	case err != nil:
	case errors.Is(broken, io.EOF), errors.Is(broken, io.ErrUnexpectedEOF):
		err = fmt.Errorf("it ends too early, after %d octets", len(text))
	case broken != nil:
		err = fmt.Errorf("it is damaged after octet %d: %w", end, broken)
	case f.Version != fileVersion:
		err = fmt.Errorf("it has version %d, and this server uses version %d", f.Version, fileVersion)
	case wrong != nil || invalid != nil:
		err = fmt.Errorf("values in it are not used; the first one: %w", cmp.Or(invalid, wrong))
	case sum != checksum(text[:end]):
		err = errors.New("it was changed after it had been written: its checksum is another one")
	}
	return f, err
}

// repaired returns the JSON value with which a text begins, and where that ends. If the value
// breaks off, or the rest is no JSON, it returns an error, and the value without that.
func repaired(text []byte) (value []byte, end int, err error) {
	type level struct {
		end byte
		key bool // the next token is a key
	}
	var open []level // objects and arrays
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if err != nil {
			for _, l := range slices.Backward(open) {
				value = append(value, l.end)
			}
			return value, int(d.InputOffset()), err
		}
		in := len(open) - 1
		if in >= 0 && open[in].key && token != json.Delim('}') {
			open[in].key = false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{'}', true})
		case json.Delim('['):
			open = append(open, level{']', false})
		case json.Delim('}'), json.Delim(']'):
			open, in = open[:in], in-1
			fallthrough
		default:
			if in >= 0 {
				open[in].key = open[in].end == '}'
			}
		}
		if end = int(d.InputOffset()); len(open) == 0 {
			return text[:end], end, nil
		}
		value = text[:end:end]
	}
}

// removeInvalid removes values that can't be used, and returns why the first one can't.
func (f *file) removeInvalid() (first error) {
	remove := func(err error) bool {
		first = cmp.Or(first, err)
		return err != nil
	}
	for _, sites := range []*[]*fileSite{&f.Sites, &f.Hosts} {
		*sites = slices.DeleteFunc(*sites, func(s *fileSite) bool {
			if s == nil || s.Name == "" {
				return remove(errors.New("a site has no name"))
			}
			s.Crawlers = slices.DeleteFunc(s.Crawlers, func(c *fileCrawler) bool { return remove(c.parse()) })
			return false
		})
	}
	f.Lines = slices.DeleteFunc(f.Lines, func(l *fileLine) bool { return remove(l.parse()) })
	return first
}

// parse sets class.
func (f *fileCrawler) parse() (err error) {
	if f == nil {
		return errors.New("a crawler is null")
	}
	if f.class, err = crawler.ParseClass(f.Class); err != nil {
		return fmt.Errorf("crawler %q: %w", f.Name, err)
	}
	return nil
}

// parse sets layer and reason.
func (f *fileLine) parse() error {
	if f == nil || f.Site == "" {
		return errors.New("a rule has no site")
	}
	var knowsLayer, knowsReason bool
	f.layer, knowsLayer = judge.LayerNamed(f.Layer)
	f.reason, knowsReason = judge.ReasonNamed(f.Reason)
	if !knowsLayer || !knowsReason {
		return fmt.Errorf("a rule has the layer %q and the reason %q", f.Layer, f.Reason)
	}
	return nil
}
