package counters

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// decoder reads a file, even a damaged one: of the JSON before the place where it
// breaks, it leaves out the values that don't have the form of this version.
type decoder struct {
	*json.Decoder
	file file
	left int   // values that were left out
	why  error // the first of them was
}

// decodeFile reads a file. If there is an error, the file has what could be read.
func decodeFile(r io.Reader) (*file, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if len(text) > maxFile {
		err = fmt.Errorf("it is larger than %d octets", maxFile)
	}
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(text))}
	broken := d.object(d.field)
	end := d.InputOffset()
	sum := string(bytes.TrimSpace(text[end:])) // the files of 0.1.0 have none
	switch {
	case err != nil:
	case errors.Is(broken, io.EOF), errors.Is(broken, io.ErrUnexpectedEOF):
		err = fmt.Errorf("it ends too early, after %d octets", len(text))
	case broken != nil:
		err = fmt.Errorf("it is damaged after octet %d: %w", end, broken)
	case d.file.Version != fileVersion:
		err = fmt.Errorf("it has version %d, and this server uses version %d", d.file.Version, fileVersion)
	case d.left > 0:
		err = fmt.Errorf("values in it are not used (%d); the first one: %w", d.left, d.why)
	case sum != "" && sum != checksum(text[:end]):
		err = errors.New("it was changed after it had been written: its checksum is another one")
	}
	return &d.file, err
}

// field reads the value of a field of the file.
func (d *decoder) field(name string) error {
	f := &d.file
	switch name {
	case "sites":
		return d.array(func() error { return d.site(&f.Sites) })
	case "hosts":
		return d.array(func() error { return d.site(&f.Hosts) })
	case "rules":
		return d.array(d.line)
	case "guard":
		return d.array(func() error {
			var raw json.RawMessage
			err := d.Decode(&raw)
			if err == nil {
				f.Guard = append(f.Guard, raw)
			}
			return err
		})
	case "robots_txt":
		f.Files = make(map[string]json.RawMessage)
		return d.object(func(name string) error {
			var raw json.RawMessage
			err := d.Decode(&raw)
			if err == nil {
				f.Files[name] = raw
			}
			return err
		})
	}
	return d.value(map[string]any{"version": &f.Version, "at": &f.At, "since": &f.Since}[name], nil)
}

// site reads a site. If the JSON breaks in it, the file gets the site with what was
// read of it.
func (d *decoder) site(to *[]fileSite) error {
	var s fileSite
	err := d.object(func(name string) error {
		if name == "crawlers" {
			return d.array(func() error {
				row := new(fileCrawler)
				return d.value(row, func() (err error) {
					if row.class, err = crawler.ParseClass(row.Class); err != nil {
						return fmt.Errorf("crawler %q: %w", row.Name, err)
					}
					s.Crawlers = append(s.Crawlers, row)
					return nil
				})
			})
		}
		return d.value(map[string]any{
			"name": &s.Name, "people": &s.People, "reasons": &s.Reasons, "pattern": &s.Pattern, "first": &s.First, "days": &s.Days, "seen": &s.Seen,
		}[name], nil)
	})
	if s.Name != "" {
		*to = append(*to, s)
	} else if err == nil {
		d.leaveOut(errors.New("a site has no name"))
	}
	return err
}

// line reads a line.
func (d *decoder) line() error {
	r := new(fileLine)
	return d.value(r, func() error {
		var err1, err2 error
		r.layer, err1 = parse(r.Layer, judge.LimitLayer+1)
		r.reason, err2 = parse(r.Reason, judge.Reason(judge.Reasons))
		if r.Site == "" {
			return errors.New("a rule has no site")
		}
		if err := cmp.Or(err1, err2); err != nil {
			return fmt.Errorf("the layer or reason of a rule: %w", err)
		}
		d.file.Lines = append(d.file.Lines, r)
		return nil
	})
}

// value reads a value. It is left out if v is nil, if it doesn't have the form of v, or if
// use, which may be nil, returns an error. An error of value means that the JSON breaks.
func (d *decoder) value(v any, use func() error) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil || v == nil {
		return err
	}
	err := json.Unmarshal(raw, v)
	if err == nil && use != nil {
		err = use()
	}
	if err != nil {
		d.leaveOut(err)
	}
	return nil
}

func (d *decoder) leaveOut(why error) {
	d.left, d.why = d.left+1, cmp.Or(d.why, why)
}

// object reads an object, or null. For each name, field reads the value.
func (d *decoder) object(field func(name string) error) error {
	return d.items('{', func() error {
		name, err := d.Token()
		if err != nil {
			return err
		}
		return field(name.(string))
	})
}

// array reads an array, or null. element reads each element.
func (d *decoder) array(element func() error) error { return d.items('[', element) }

func (d *decoder) items(begin json.Delim, item func() error) error {
	switch token, err := d.Token(); {
	case err != nil || token == nil:
		return err
	case token != begin:
		return fmt.Errorf("found %v instead of %v", token, begin)
	}
	for d.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
