package caddymodule

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

// buttonField is the query parameter of the button's token. It is added to the
// URL that was refused, so that the button needs no path of its own.
const buttonField = "caddy-robots-continue"

// The cookie that the button sets. A request with any cookie is not looked at,
// so its value says nothing.
const (
	personCookie     = "caddy_robots_person"
	personCookieLife = 24 * 60 * 60 // seconds
)

// refuse answers a suspect that may not have a page: with a page that says why
// and has a button for people, or with plain text for those that want no HTML.
func (s *suspicion) refuse(w http.ResponseWriter, x *exchange) error {
	header := w.Header()
	header["Cache-Control"] = noStore
	header["X-Content-Type-Options"] = noSniff
	header.Set("X-Robots-Tag", "noindex")
	header.Set("Referrer-Policy", "same-origin")
	var page bytes.Buffer
	if wantsHTML(x.r) {
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", suspectCSP)
		if err := suspectPage.Execute(&page, s.action(x)); err != nil {
			return err
		}
	} else {
		header["Content-Type"] = textPlain
		page.WriteString(suspectText)
	}
	header.Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(http.StatusForbidden)
	if x.Method != http.MethodHead {
		_, _ = w.Write(page.Bytes()) // the client may be gone
	}
	return nil
}

// wantsHTML reports whether a client accepts HTML by name, as all browsers do.
func wantsHTML(r *http.Request) bool {
	for _, accept := range r.Header["Accept"] {
		if strings.Contains(accept, "text/html") {
			return true
		}
	}
	return false
}

// action is where the form of the page goes: the URL that was refused, with the
// button's token. Without a path it is resolved against that URL, so that no
// path, such as one with two slashes, leads to another host.
func (s *suspicion) action(x *exchange) string {
	v := &x.visit
	token := s.visitors.key.Load().Button(v.Site, v.Client, v.UserAgent, x.Time)
	_, query, _ := strings.Cut(x.Target, "?")
	if query != "" {
		query += "&"
	}
	return "?" + query + buttonField + "=" + token
}

// pressed reports whether a request is that of the button: a POST of the client
// that was given its token, from a page of the site.
func (s *suspicion) pressed(x *exchange, monitor bool) bool {
	if x.Method != http.MethodPost || !s.bind || monitor {
		return false
	}
	token, _ := cutToken(x.Target)
	if token == "" || !s.visit(x) {
		return false
	}
	for _, site := range x.r.Header["Sec-Fetch-Site"] {
		if site != "same-origin" {
			return false
		}
	}
	return s.visitors.pressed(token, &x.visit, x.Time)
}

// cutToken returns the button's token in a request target, and the query without
// it. It stands at the end.
func cutToken(target string) (token, query string) {
	_, query, _ = strings.Cut(target, "?")
	i := strings.LastIndex(query, buttonField+"=")
	if i < 0 || i > 0 && query[i-1] != '&' {
		return "", query
	}
	return query[i+len(buttonField)+1:], strings.TrimSuffix(query[:i], "&")
}

// sendCookie sets the cookie and leads back to the page.
func sendCookie(w http.ResponseWriter, x *exchange) error {
	header := w.Header()
	header["Cache-Control"] = noStore
	http.SetCookie(w, &http.Cookie{
		Name: personCookie, Value: "1", Path: "/", MaxAge: personCookieLife, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	header.Set("Location", back(x.Target))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// back is the page that was refused, as a reference on the same host: only its
// query where its path could be read as a host.
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

const suspectText = "The robots.txt of this site disallows this URL to robots, and requests of your browser from your address look like those of a robot.\n" +
	"Open the URL in a browser to go on as a person.\n"

// suspectCSP allows the style of the page, and its form.
var suspectCSP = func() string {
	sum := sha256.Sum256([]byte(suspectStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

const suspectStyle = `:root{color-scheme:light dark}
body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:12vh auto 0;padding:0 1.25rem;color:#1b1b1b;background:#fff}
h1{font-size:1.5rem;line-height:1.25}
button{font:inherit;padding:.6rem 1.2rem;border:2px solid #0b57d0;border-radius:.4rem;background:#0b57d0;color:#fff;cursor:pointer}
button:focus-visible{outline:3px solid #0b57d0;outline-offset:3px}
p.note{font-size:.95rem;color:#4d4d4d}
@media (prefers-color-scheme:dark){body{color:#eee;background:#16181c}button{background:#a8c7fa;border-color:#a8c7fa;color:#062e6f}button:focus-visible{outline-color:#a8c7fa}p.note{color:#b8b8b8}}`

var suspectPage = template.Must(template.New("suspect").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Are you a person?</title>
<style>` + suspectStyle + `</style>
</head>
<body>
<main>
<h1>This page is not for robots</h1>
<p>The robots.txt of this site disallows this page to robots. Requests with your browser’s name from your internet address look like those of a robot, so the page is not shown. Somebody else at the same address may have sent them.</p>
<form method="post" action="{{.}}">
<p><button type="submit">I am a person: show the page</button></p>
</form>
<p class="note">The button stores a cookie for one day. It says only that the button was pressed. Without it, the page can be opened again after some time.</p>
</main>
</body>
</html>
`))
