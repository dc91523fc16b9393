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
		if text := setsText(route.Sets()); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return cutText(joinTexts(texts))
}

// setsText describes the matcher sets of a route.
func setsText(sets []Set) string {
	var texts []string
	for _, set := range sets {
		text := setText(set)
		if text == "" {
			return "" // a set of hosts alone
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " or ")
}

// setText describes the matchers that must all match.
func setText(set Set) string {
	var texts []string
	for name, value := range set {
		switch name {
		case "host":
		case "not":
			texts = append(texts, notText(value))
		default:
			texts = append(texts, strings.TrimSpace(name+" "+Text(jsonOf(name, value))))
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, " and ")
}

// notText describes a matcher that negates others. It does not name hosts: they are
// other sites', and the reader may be the customer of only one.
func notText(value any) string {
	sets, _ := value.([]Set)
	var texts []string
	for _, set := range sets {
		text := setText(set)
		if _, ok := set["host"]; ok {
			text = strings.TrimSuffix("host … and "+text, " and ")
		}
		if strings.Contains(text, " and ") {
			text = "(" + text + ")"
		}
		texts = append(texts, "not "+text)
	}
	return strings.Join(texts, " and ")
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

// joinTexts joins the texts about the matchers of routes that are inside each
// other.
func joinTexts(texts []string) string {
	if len(texts) > 1 {
		for i, text := range texts {
			if strings.Contains(text, " or ") {
				texts[i] = "(" + text + ")"
			}
		}
	}
	return strings.Join(texts, " and ")
}

// cutText shortens a text about matchers.
func cutText(text string) string {
	if len(text) <= maxMatcherText {
		return text
	}
	return strings.ToValidUTF8(text[:maxMatcherText], "") + "…"
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
