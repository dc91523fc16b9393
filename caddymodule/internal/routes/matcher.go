package routes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

// maxMatcherText is the most octets of a text about matchers.
const maxMatcherText = 120

// Matcher describes the matchers of the route and of the routes around it in a
// short text, such as "not path /api/* and method GET". It leaves out host
// matchers, because they select a site and not one of the site's handlers. It
// returns "" if there is no other matcher.
func (r *Route) Matcher() string {
	var texts []string
	for _, route := range r.fromOutside() {
		if text := setsText(route.Sets(), ""); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) > 1 {
		texts = words.Map(texts, func(text string) string { return enclosed(text, " or ") })
	}
	text := strings.Join(texts, " and ")
	if len(text) > maxMatcherText {
		text = strings.ToValidUTF8(text[:maxMatcherText], "") + "…"
	}
	return text
}

// setsText describes the matcher sets of a route, or those that a matcher negates. host
// stands for a host matcher. If it is "", a set of hosts alone makes the text "".
func setsText(sets []Set, host string) string {
	var texts []string
	for _, set := range sets {
		text := setText(set, host)
		if text == "" {
			return ""
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " or ")
}

// setText describes the matchers that must all match. It names no hosts in not: they are
// other sites', and the reader may be the customer of only one.
func setText(set Set, host string) string {
	var texts []string
	for name, value := range set {
		switch negated, _ := value.([]Set); {
		case name == "not":
			texts = append(texts, "not "+enclosed(setsText(negated, "host …"), " or ", " and "))
		case name != "host":
			texts = append(texts, strings.TrimSpace(name+" "+Text(jsonOf(name, value))))
		case host != "":
			texts = append(texts, host)
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, " and ")
}

// enclosed puts a text that joins others by one of some words in parentheses.
func enclosed(text string, by ...string) string {
	if slices.ContainsFunc(by, func(word string) bool { return strings.Contains(text, word) }) {
		return "(" + text + ")"
	}
	return text
}

// Text writes a value of JSON in words: lists and objects without brackets.
func Text(value any) string {
	var texts []string
	switch value := value.(type) {
	case string:
		return value
	case []string:
		texts = value
	case []any:
		texts = words.Map(value, Text)
	case map[string]any:
		if expression, ok := value["expr"].(string); ok {
			return expression
		}
		for name, v := range value {
			texts = append(texts, strings.TrimSpace(name+" "+Text(v)))
		}
		slices.Sort(texts)
	case nil:
	default:
		return fmt.Sprint(value)
	}
	return strings.Join(texts, " ")
}

// withoutSecrets returns the value of a matcher without the parts that may be
// secret. Of headers and queries, it keeps the names.
func withoutSecrets(matcher string, value any) any {
	switch matcher {
	case "host", "path", "path_regexp", "method", "protocol", "remote_ip", "client_ip", "robots":
		return value
	case "header", "header_regexp", "query":
		fields, _ := value.(map[string]any)
		for name := range fields {
			if matcher == "query" || http.CanonicalHeaderKey(name) != "User-Agent" {
				fields[name] = nil
			}
		}
		return fields
	}
	return nil
}
