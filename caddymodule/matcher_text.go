package caddymodule

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// maxMatcherText is the most octets of a text about request matchers.
const maxMatcherText = 120

// matcherText describes the request matchers of a route in a short text, such as
// "not path /api/* and method GET". match is the value of the field match in
// JSON. It leaves out host matchers, because they select a site and not one of
// the site's handlers. It returns "" if there is no other matcher.
func matcherText(match any) string {
	sets, _ := match.([]any)
	var texts []string
	for _, set := range sets {
		text := matcherSetText(set)
		if text == "" {
			return "" // a set of hosts alone
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " or ")
}

// matcherSetText describes the matchers that must all match.
func matcherSetText(set any) string {
	matchers, _ := set.(map[string]any)
	var texts []string
	for name, value := range matchers {
		switch name {
		case "host":
		case "not":
			texts = append(texts, notText(value))
		default:
			texts = append(texts, strings.TrimSpace(name+" "+valueText(value)))
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, " and ")
}

// notText describes a matcher that negates others, hosts as well.
func notText(value any) string {
	sets, _ := value.([]any)
	var texts []string
	for _, set := range sets {
		matchers, _ := set.(map[string]any)
		text := matcherSetText(matchers)
		if hosts, ok := matchers["host"]; ok {
			text = strings.TrimSuffix("host "+valueText(hosts)+" and "+text, " and ")
		}
		if strings.Contains(text, " and ") {
			text = "(" + text + ")"
		}
		texts = append(texts, "not "+text)
	}
	return strings.Join(texts, " and ")
}

// valueText writes the value of a matcher: lists and objects without brackets.
func valueText(value any) string {
	var words []string
	switch value := value.(type) {
	case string:
		return value
	case []any:
		for _, v := range value {
			words = append(words, valueText(v))
		}
	case map[string]any:
		if expression, ok := value["expr"].(string); ok {
			return expression
		}
		for name, v := range value {
			words = append(words, strings.TrimSpace(name+" "+valueText(v)))
		}
		slices.Sort(words)
	case nil:
	default:
		return fmt.Sprint(value)
	}
	return strings.Join(words, " ")
}

// joinMatchers joins the texts about the matchers of routes that are inside each
// other.
func joinMatchers(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	list := slices.Clone(texts)
	for i, text := range list {
		if strings.Contains(text, " or ") {
			list[i] = "(" + text + ")"
		}
	}
	return strings.Join(list, " and ")
}

// withMatchers adds the matchers of a route to those of the routes around it.
func withMatchers(around []string, match any) []string {
	if text := matcherText(match); text != "" && !slices.Contains(around, text) {
		return append(slices.Clip(around), text)
	}
	return around
}

// cutText shortens a text about matchers.
func cutText(text string) string {
	if len(text) <= maxMatcherText {
		return text
	}
	end := maxMatcherText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// matchersOf returns loaded matchers as they are in JSON, because Caddy drops the
// JSON that it has loaded. It leaves out values that may be secret, such as a token
// in a header or a query: people who may see the dashboard see the text.
func matchersOf(sets []caddyhttp.MatcherSet) []any {
	var list []any
	for _, set := range sets {
		object := make(map[string]any)
		for _, m := range set {
			module, ok := m.(caddy.Module)
			if !ok {
				continue
			}
			var value any
			switch m := m.(type) {
			case *caddyhttp.MatchNot:
				value = matchersOf(m.MatcherSets)
			case caddyhttp.MatchNot:
				value = matchersOf(m.MatcherSets)
			default:
				if text, err := json.Marshal(m); err == nil {
					_ = json.Unmarshal(text, &value)
				}
				value = withoutSecrets(module.CaddyModule().ID.Name(), value)
			}
			object[module.CaddyModule().ID.Name()] = value
		}
		list = append(list, object)
	}
	return list
}

// withoutSecrets returns the value of a matcher without the parts that may be
// secret. Of headers and queries, it keeps the names.
func withoutSecrets(matcher string, value any) any {
	switch matcher {
	case "host", "path", "path_regexp", "method", "protocol", "remote_ip", "client_ip", "robots":
		return value
	case "header", "header_regexp", "query":
		fields, _ := value.(map[string]any)
		public := make(map[string]any)
		for name, v := range fields {
			if matcher == "query" || http.CanonicalHeaderKey(name) != "User-Agent" {
				v = nil
			}
			public[name] = v
		}
		return public
	}
	return nil
}
