package logformat

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// customLog parses the lines of a format that the operator describes in the notation
// of nginx's log_format.
type customLog struct {
	times  timeParser
	parts  []customPart
	agents bool
	buf    []byte
}

// customPart is a variable and the text after it. The first part has no variable.
type customPart struct {
	variable string
	literal  string
}

// variable matches a variable, with or without braces, and a $ without a name.
var variable = regexp.MustCompile(`\$(\{[^}]*\}|\w+)?`)

// Custom compiles a format in the notation of nginx's log_format. Times without a
// zone are in zone; nil means UTC. The error says what is wrong with the format.
func Custom(notation string, zone *time.Location) (*Format, error) {
	p := &customLog{times: timeParser{zone: zone}, parts: make([]customPart, 1)}
	seen := map[string]bool{}
	last := 0
	for _, at := range variable.FindAllStringSubmatchIndex(notation, -1) {
		before := &p.parts[len(p.parts)-1]
		before.literal = notation[last:at[0]]
		name := strings.Trim(notation[at[0]+1:at[1]], "{}")
		last = at[1]
		switch {
		case at[0]+1 == at[1] && strings.HasPrefix(notation[last:], "{"):
			return nil, errors.New("} is missing after ${")
		case at[0]+1 == at[1]:
			return nil, errors.New("the name of a variable is missing after $")
		case before.literal == "" && len(p.parts) > 1:
			return nil, fmt.Errorf("there is no text between $%s and $%s: put a blank or another character between them", before.variable, name)
		}
		p.parts = append(p.parts, customPart{variable: name})
		seen[name] = true
	}
	p.parts[len(p.parts)-1].literal = notation[last:]
	p.agents = seen["http_user_agent"]
	switch {
	case len(p.parts) > maxColumns:
		return nil, fmt.Errorf("it has %d variables: at most %d are allowed", len(p.parts)-1, maxColumns-1)
	case !slices.ContainsFunc(pathVariables, func(name string) bool { return seen[name] }):
		return nil, errors.New("it has no path: add $request or $request_uri")
	}
	return &Format{main: p}, nil
}

func (p *customLog) name() string    { return "custom" }
func (p *customLog) hasAgents() bool { return p.agents }

func (p *customLog) parse(line []byte, e *Entry) Problem {
	if len(line) == 0 {
		return NoRequest
	}
	p.buf = p.buf[:0]
	rest, ok := bytes.CutPrefix(line, []byte(p.parts[0].literal))
	if !ok {
		return unknownFormat
	}
	v := variables{times: &p.times}
	for i := range p.parts[1:] {
		part := &p.parts[i+1]
		end := p.end(rest, part, i+2 == len(p.parts))
		if end < 0 {
			return cutOff
		}
		value := rest[:end]
		rest = rest[end+len(part.literal):]
		if pr := v.set(part.variable, value, view(unescaped(value, &p.buf)), e); pr != None {
			return pr
		}
	}
	if pr := v.finish(e, &p.buf); pr != None {
		return pr
	}
	if e.Target == "" {
		return NoRequest
	}
	if p.agents && len(e.UserAgents) == 0 {
		e.setAgent("")
	}
	return None
}

// end returns the length of a variable's value: up to the text after the variable. For
// the last variable, that text must be the end of the line. An escaped quotation mark
// does not end a value.
func (p *customLog) end(b []byte, part *customPart, last bool) int {
	if part.literal == "" {
		return len(b)
	}
	if last {
		if !bytes.HasSuffix(b, []byte(part.literal)) {
			return -1
		}
		return len(b) - len(part.literal)
	}
	for i := 0; ; i++ {
		n := bytes.Index(b[i:], []byte(part.literal))
		if n < 0 {
			return -1
		}
		i += n
		if part.literal[0] != '"' || !escaped(b, i) {
			return i
		}
	}
}
