package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// want is what is expected of an answer.
type want struct {
	number int // of the line
	text   string
}

// checkAll compares the statuses, and each answer with the expectations. What is wanted is
// a status, or counts of statuses: "3x200 37x429".
func (r *runner) checkAll(answers []*Answer, wanted string, wants []want) (problems []string) {
	if r.Unchecked {
		return nil
	}
	got := make(map[int]int)
	for _, a := range answers {
		got[a.Status]++
		problems = append(problems, r.check(wants, a)...)
	}
	want := make(map[int]int)
	for _, part := range strings.Fields(wanted) {
		count, status, several := strings.Cut(part, "x")
		if !several {
			count, status = strconv.Itoa(len(answers)), part
		}
		n, _ := strconv.Atoi(count)
		number, err := strconv.Atoi(status)
		if err != nil {
			return append(problems, fmt.Sprintf("%q is no status", status))
		}
		want[number] += n
	}
	if len(want) > 0 && fmt.Sprint(got) != fmt.Sprint(want) {
		problems = append(problems, fmt.Sprintf("statuses and their numbers are %v, want %v: %.300s", got, want, answers[len(answers)-1].Body))
	}
	return problems
}

// check compares one answer with expectations.
func (r *runner) check(wants []want, a *Answer) (problems []string) {
	for _, w := range wants {
		if got, ok := r.holds(w.text, a); !ok {
			problems = append(problems, fmt.Sprintf("line %d: want %s, got %.600s", w.number, w.text, got))
		}
	}
	return slices.Compact(problems)
}

// holds reports whether an expectation holds, and what there is instead.
//
//	Field: value   the header field has this value; *: any; ~: a regular expression
//	! Field        the header has no such field
//	> text         the body contains a text
//	!> text        the body does not
//	= text         the body is this text
//	~ expression   the body matches
//	.path: value   the value of JSON at a path: .limits.0.rule
//	NAME := …      sets a variable: ~ and an expression whose group is the value, for
//	               the body, or for a field behind "Field: "
func (r *runner) holds(text string, a *Answer) (string, bool) {
	if name, rest, found := strings.Cut(text, " := "); found {
		from, expression := a.Body, rest
		if field, value, found := strings.Cut(rest, ": ~"); found {
			from, expression = strings.Join(a.Header.Values(field), "\n"), "~"+value
		}
		compiled, err := regexp.Compile(strings.TrimPrefix(expression, "~"))
		if err != nil {
			return err.Error(), false
		}
		if found := compiled.FindStringSubmatch(from); len(found) == 2 {
			r.vars[name] = found[1]
			return "", true
		}
		return from, false
	}
	operator, rest, _ := strings.Cut(text, " ")
	switch operator {
	case "!":
		got := a.Header.Values(rest)
		return strings.Join(got, ", "), len(got) == 0
	case ">":
		return a.Body, strings.Contains(a.Body, rest)
	case "!>":
		return a.Body, !strings.Contains(a.Body, rest)
	case "=":
		return a.Body, strings.TrimSuffix(a.Body, "\n") == rest
	case "~":
		return a.Body, matches(a.Body, text)
	}
	name, value, _ := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	if path, found := strings.CutPrefix(name, "."); found {
		var doc any
		if err := json.Unmarshal([]byte(a.Body), &doc); err != nil {
			return fmt.Sprintf("%v: %s", err, a.Body), false
		}
		got := lookUp(doc, path)
		return got + " in " + a.Body, matches(got, value)
	}
	got := a.Header.Values(http.CanonicalHeaderKey(name))
	joined := strings.Join(got, ", ")
	return joined, len(got) > 0 && matches(joined, value)
}

// matches compares a value: * stands for any, ~ begins a regular expression.
func matches(got, want string) bool {
	if expression, found := strings.CutPrefix(want, "~"); found {
		ok, err := regexp.MatchString("(?m)"+strings.TrimSpace(expression), got)
		return ok && err == nil
	}
	return want == "*" || got == want
}

// lookUp returns the value at a path of keys and positions, as text. "" is what is not
// there, and "#" at the end is the number of elements.
func lookUp(doc any, path string) string {
	for path != "" {
		var key string
		key, path, _ = strings.Cut(path, ".")
		switch value := doc.(type) {
		case map[string]any:
			if key == "#" {
				return strconv.Itoa(len(value))
			}
			doc = value[key]
		case []any:
			if key == "#" {
				return strconv.Itoa(len(value))
			}
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(value) {
				return ""
			}
			doc = value[i]
		default:
			if key == "#" {
				return "0"
			}
			return ""
		}
	}
	switch value := doc.(type) {
	case nil:
		return ""
	case string:
		return value
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(doc)
	return strings.TrimSpace(b.String())
}

// log counts the log lines that have a message and the fields of the expectations.
// Without a wanted number there must be at least one.
func (r *runner) log(message, wanted string, wants []want) ([]string, error) {
	count, others := 0, ""
	for text := range bytes.Lines(r.server.Log()[r.logged:]) {
		var fields any
		if json.Unmarshal(text, &fields) != nil || !matches(lookUp(fields, "msg"), message) {
			continue
		}
		others = string(text)
		ok := true
		for _, w := range wants {
			name, value, _ := strings.Cut(w.text, ":")
			ok = ok && matches(lookUp(fields, name), strings.TrimSpace(value))
		}
		if ok {
			count++
		}
	}
	if r.Unchecked || wanted == "" && count > 0 || wanted != "" && strconv.Itoa(count) == wanted {
		return nil, nil
	}
	if wanted == "" {
		wanted = "some"
	}
	return []string{fmt.Sprintf("%d such log lines %q, want %s; the last of them: %s", count, message, wanted, others)}, nil
}

// metric compares the value of a metric. One that is not there is 0. Of a counter, the
// increase since the start counts.
func (r *runner) metric(name, wanted string) ([]string, error) {
	answer, err := r.server.Admin("GET", "/metrics", "", "")
	if err != nil {
		return nil, err
	}
	value := metrics(answer.Body)[name]
	if base, _, _ := strings.Cut(name, "{"); strings.HasSuffix(base, "_total") {
		value -= r.counted[name]
	}
	if got := strconv.FormatFloat(value, 'g', -1, 64); !r.Unchecked && got != wanted {
		return []string{fmt.Sprintf("it is %s, want %s", got, wanted)}, nil
	}
	return nil, nil
}

// metrics reads the text format of Prometheus.
func metrics(text string) map[string]float64 {
	values := make(map[string]float64)
	for line := range strings.Lines(text) {
		if end := strings.LastIndexByte(line, ' '); end > 0 && line[0] != '#' {
			values[line[:end]], _ = strconv.ParseFloat(strings.TrimSpace(line[end:]), 64)
		}
	}
	return values
}
