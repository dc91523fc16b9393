package visitors

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// buttonField is the query parameter with the button's token. It is added to the
// refused URL, so that the button needs no path of its own.
const buttonField = "caddy-robots-continue"

// The cookie that the button sets. Requests with any cookie are not counted, so
// its value has no meaning.
const (
	personCookie     = "caddy_robots_person"
	personCookieLife = 24 * 60 * 60 // seconds
)

// Refuse answers a denied request of a suspect with 403 and a page that gives the
// reason and has a button for people. Clients that do not accept HTML get plain
// text.
func (s *Watcher) Refuse(w http.ResponseWriter, q *judge.Request, r *http.Request) error {
	header := w.Header()
	maps.Copy(header, refusalHeader)
	var page bytes.Buffer
	if wantsHTML(r) {
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", pageCSP)
		if err := pageTemplate.Execute(&page, pageData{template.CSS(pageStyle), s.action(q)}); err != nil {
			return err
		}
	} else {
		header.Set("Content-Type", "text/plain; charset=utf-8")
		page.WriteString(refusalText)
	}
	header.Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(http.StatusForbidden)
	if q.Method != http.MethodHead {
		_, _ = w.Write(page.Bytes()) // the client may be gone
	}
	return nil
}

// refusalHeader has the fields of every refusal. Nothing may change the values:
// all responses share them.
var refusalHeader = http.Header{
	"Cache-Control":          {"no-store"},
	"X-Content-Type-Options": {"nosniff"},
	"X-Robots-Tag":           {"noindex"},
	"Referrer-Policy":        {"same-origin"},
}

// wantsHTML reports whether the Accept field names text/html. All browsers send
// it for a page.
func wantsHTML(r *http.Request) bool {
	return slices.ContainsFunc(r.Header["Accept"], func(accept string) bool { return strings.Contains(accept, "text/html") })
}

// action returns the target of the page's form: the refused URL with the button's
// token added. The result has no path, so the browser keeps the path of the
// refused URL. A path could lead to another host if it begins with two slashes.
func (s *Watcher) action(q *judge.Request) string {
	var v Visit
	v.identify(q)
	token := s.memory.key.Load().Button(v.request.Site, v.request.Client, v.request.UserAgent, q.Time)
	_, query, _ := strings.Cut(q.Target, "?")
	if query != "" {
		query += "&"
	}
	return "?" + query + buttonField + "=" + token
}

// pressed reports whether a request comes from the button: a POST from a page of
// the site, by the client that the token was made for.
func (s *Watcher) pressed(q *judge.Request, r *http.Request) bool {
	if q.Method != http.MethodPost || !s.bind {
		return false
	}
	var v Visit
	token, _ := cutToken(q.Target)
	if token == "" || !v.identify(q) {
		return false
	}
	elsewhere := slices.ContainsFunc(r.Header["Sec-Fetch-Site"], func(site string) bool { return site != "same-origin" })
	return !elsewhere && s.memory.pressed(token, &v.request, q.Time)
}

// cutToken returns the button's token, which is at the end of a request target,
// and the query without it.
func cutToken(target string) (token, query string) {
	_, query, _ = strings.Cut(target, "?")
	i := strings.LastIndex(query, buttonField+"=")
	if i < 0 || i > 0 && query[i-1] != '&' {
		return "", query
	}
	return query[i+len(buttonField)+1:], strings.TrimSuffix(query[:i], "&")
}

// SendCookie answers a request that comes from the button: it sets the cookie and
// redirects to the refused page.
func SendCookie(w http.ResponseWriter, q *judge.Request) error {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	http.SetCookie(w, &http.Cookie{
		Name: personCookie, Value: "1", Path: "/", MaxAge: personCookieLife, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	header.Set("Location", back(q.Target))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// back returns a reference to the refused page. If a browser could take the path
// for a host, the reference has only the query, so that it stays on this host.
func back(target string) string {
	path, _, _ := strings.Cut(target, "?")
	_, query := cutToken(target)
	safe := strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.ContainsAny(path, "\\\t\r\n")
	switch {
	case !safe:
		return "?" + query
	case query == "":
		return path
	}
	return path + "?" + query
}

const refusalText = "The robots.txt of this site disallows this URL to robots, " +
	"and requests with your User-Agent from your address look like those of a robot.\n" +
	"If you are a person, open the URL in a browser to continue.\n"

// pageCSP allows only the style and the form of the page.
var pageCSP = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

//go:embed page.css
var pageStyle string

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageData fills in the page.
type pageData struct {
	Style  template.CSS
	Action string // the target of the form
}
