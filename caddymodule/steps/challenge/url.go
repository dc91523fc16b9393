package challenge

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// parameter is what begins the parameter with a token. It is the last one of a query, so
// that the rest stays as it is.
const parameter = "caddy-robots-pass="

// cookieName returns the name of the cookie.
func cookieName(secure bool) string {
	if secure {
		return "__Host-caddy-robots-pass"
	}
	return "caddy-robots-pass"
}

// withToken returns a reference with a token as a further parameter.
func withToken(target, token string) string {
	separator := "?"
	if strings.Contains(target, "?") {
		separator = "&"
	}
	return target + separator + parameter + token
}

// redirectTarget returns a reference to the URL of a request. It leads to the same host, whatever
// the path is: a browser takes a reference that begins with two slashes, or a slash and a
// backslash, for another host.
func redirectTarget(target string) string {
	if !strings.HasPrefix(target, "/") { // the absolute form, or *
		u, err := url.Parse(target)
		if err != nil || u.Opaque != "" {
			u = new(url.URL)
		}
		target = "/" + strings.TrimPrefix(u.RequestURI(), "/")
	}
	if len(target) > 1 && (target[1] == '/' || target[1] == '\\') {
		target = "/." + target
	}
	return escaped(target)
}

// escaped returns a target in which the octets are escaped that no browser sends in one.
func escaped(target string) string {
	octets := make([]byte, 0, len(target))
	for _, c := range []byte(target) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`#"<>`, c) >= 0 {
			octets = canonical.AppendEscape(octets, c)
		} else {
			octets = append(octets, c)
		}
	}
	return string(octets)
}

// takeParameter removes the parameter from a request and returns its value. A parameter
// that is not the last one of the query is removed too.
func takeParameter(q *judge.Request, r *http.Request) (value string, given bool) {
	if !strings.Contains(r.URL.RawQuery, parameter) && !strings.Contains(q.Target, parameter) {
		return "", false
	}
	q.Target, value, given = cutParameter(q.Target)
	urls := []*url.URL{r.URL}
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		urls = append(urls, original.URL)
	}
	for _, u := range urls {
		rest, text, found := cutParameter("?" + u.RawQuery)
		u.RawQuery = strings.TrimPrefix(rest, "?")
		u.ForceQuery = rest == "?" && found || u.ForceQuery
		value, given = cmp.Or(value, text), given || found
	}
	r.RequestURI = r.URL.RequestURI()
	return value, given
}

// cutParameter removes the parameters with a token from a target, and returns the value of
// the last one. A question mark that was there before stays.
func cutParameter(target string) (rest, value string, found bool) {
	path, query, _ := strings.Cut(target, "?")
	parts := slices.DeleteFunc(strings.Split(query, "&"), func(part string) bool {
		v, is := strings.CutPrefix(part, parameter)
		if is {
			value, found = v, true
		}
		return is
	})
	switch {
	case !found:
		return target, "", false
	case len(parts) == 0:
		return path, value, true
	}
	return path + "?" + strings.Join(parts, "&"), value, true
}

// maxCookies bounds the cookies of one name that are looked at: another site below the same
// domain can set one, too.
const maxCookies = 8

// takeCookie removes the cookies from a request and returns their values.
func takeCookie(r *http.Request, secure bool) (values []string) {
	isOurs := func(field string) bool { return strings.Contains(field, cookieName(false)) }
	fields := r.Header["Cookie"]
	if !slices.ContainsFunc(fields, isOurs) {
		return nil
	}
	var kept []string
	for _, field := range fields {
		parts := slices.DeleteFunc(strings.Split(field, ";"), func(part string) bool {
			name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
			if name == cookieName(secure) && len(values) < maxCookies {
				values = append(values, v)
			}
			return name == cookieName(true) || name == cookieName(false)
		})
		if rest := strings.TrimSpace(strings.Join(parts, ";")); rest != "" {
			kept = append(kept, rest)
		}
	}
	r.Header["Cookie"] = kept
	if len(kept) == 0 {
		r.Header.Del("Cookie")
	}
	return values
}
