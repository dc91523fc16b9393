package challenge

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"text/template"

	"golang.org/x/text/language"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

//go:embed page.html
var pageText string

//go:embed pagetexts.json
var wordsText []byte

// data fills in a page. The words of a language, without markup, have Lang, Title, Heading, why the
// page is there (Check if it goes on by itself, Alone with the button alone), Cookies (that they must be
// allowed), Again (how a form is sent that was not), ButtonText and ReferenceLabel. Beside these a page
// has Dir, Text, StyleSheet (what goes on by itself: a style sheet, which is empty, and a script), Button
// (a form with it), Nonce (for style elements) and Reference (as the log has it).
type data map[string]string

// Page is the page that asks a client to show that it is a browser. It is immutable.
type Page struct {
	template *template.Template // of text, because all values are safe: nothing that a client sends is in them unescaped
	words    []data             // by the index of matcher
	matcher  language.Matcher
}

const maxPage = 64 << 10

// builtin is the built-in page.
var builtin = func() *Page {
	p, err := NewPage([]byte(pageText))
	if err != nil {
		panic(err) // a test executes it
	}
	return p
}()

// NewPage returns the page of a text, an HTML template. The template must contain
// {{.StyleSheet}}, in its head, and {{.Button}}.
func NewPage(text []byte) (*Page, error) {
	if len(text) > maxPage {
		return nil, fmt.Errorf("the page has %d octets: at most %d are possible", len(text), maxPage)
	}
	t, err := template.New("page").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	p := &Page{template: t}
	if err := json.Unmarshal(wordsText, &p.words); err != nil {
		return nil, err
	}
	var tags []language.Tag
	for _, w := range p.words {
		tags = append(tags, language.Make(w["Lang"]))
	}
	p.matcher = language.NewMatcher(tags)
	const head, button = "<!-- head -->", "<!-- button -->"
	example := data{"StyleSheet": head, "Button": button, "Dir": "", "Text": "", "Nonce": "", "Reference": ""}
	maps.Copy(example, p.words[0])
	var page strings.Builder
	if err := t.Execute(&page, example); err != nil {
		return nil, err
	}
	switch {
	case !strings.Contains(page.String(), head):
		return nil, errors.New("it lacks {{.StyleSheet}}, which goes into the head of the page")
	case !strings.Contains(page.String(), button):
		return nil, errors.New("it lacks {{.Button}}, the form with the button")
	}
	return p, nil
}

// maxLanguages bounds the octets of Accept-Language that are read.
const maxLanguages = 200

// wordsFor returns the words in the first language of a client that the page is in.
func (p *Page) wordsFor(r *http.Request) data {
	accept := strings.Join(r.Header["Accept-Language"], ",")
	accept = accept[:min(len(accept), maxLanguages)]
	entries := strings.Split(accept, ",") // for a field of which one entry is malformed
	_, i := language.MatchStrings(p.matcher, append([]string{accept}, entries...)...)
	return p.words[i]
}

// script opens the URL with the token, and keeps the query as it is, and the fragment: once, also
// if something has kept the page.
const script = `addEventListener("load",()=>{let[u,f]=location.href.split(/(?=#)/),k="caddy-robots-%[1]s";` +
	`try{if(sessionStorage[k])return;sessionStorage[k]=1}catch{}` +
	`if(/^http/.test(u))location.replace(u+(u.includes("?")?"&":"?")+"` + parameter + `%[2]s"+(f||""))})`

// sentence is the answer to who does not take a page.
const sentence = "Programs request pages here in great numbers. Open this page in a browser first, and then send the request again.\n"

// why returns why the page is there.
func (a *Arrival) why(words data, q *judge.Request) string {
	switch {
	case !q.Reads():
		return words["Alone"] + " " + words["Again"]
	case a.noStore:
		return words["Alone"] + " " + words["Cookies"]
	case a.alone:
		return words["Alone"]
	}
	return words["Check"]
}

// write writes the page.
func (c *Check) write(w http.ResponseWriter, a *Arrival, q *judge.Request, r *http.Request) {
	header := w.Header()
	maps.Copy(header, pageHeader.Clone()) // a header directive may replace in the values
	if a.wait > 0 {
		header["Retry-After"] = []string{strconv.Itoa(int(a.wait.Seconds()))}
	}
	body := []byte(sentence)
	if takesHTML(r) {
		body = c.page(header, a, q, r)
	} else {
		header["Content-Type"] = []string{"text/plain; charset=utf-8"}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(http.StatusTooManyRequests)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
}

// page returns the page, and adds its policy to the header.
func (c *Check) page(header http.Header, a *Arrival, q *judge.Request, r *http.Request) []byte {
	c.identify(a, q)
	k, words := c.memory.keys(), c.Page.wordsFor(r)
	nonce := base64.RawURLEncoding.EncodeToString(a.page.id[:])
	page := data{"Dir": "ltr", "Text": a.why(words, q), "Nonce": nonce, "Reference": a.page.reference(), "StyleSheet": ""}
	maps.Copy(page, words)
	if words["Lang"] == "ar" {
		page["Dir"] = "rtl"
	}
	if !a.alone {
		page["StyleSheet"] = `<link rel="stylesheet" href="?` + parameter + k.text(a.page.as(styleToken), &a.bearer) + `">`
		if q.Reads() { // what else was sent is sent again by its user
			open := fmt.Sprintf(script, a.page.reference(), k.text(a.page.as(openToken), &a.bearer))
			page["StyleSheet"] += `<script nonce="` + nonce + `">` + open + `</script>`
		}
	}
	page["Button"] = `<form method="post" action="` + html.EscapeString(withToken(q.Target, k.text(a.page.as(buttonToken), &a.bearer))) +
		`"><button type="submit" autofocus>` + words["ButtonText"] + `</button></form>`
	header["Content-Security-Policy"] = []string{"default-src 'none'; style-src 'self' 'nonce-" + nonce + "'; script-src 'nonce-" + nonce +
		"'; form-action 'self'; base-uri 'none'"}
	body := bytes.NewBuffer(make([]byte, 0, 4096+len(page["Button"])))
	_ = c.Page.template.Execute(body, page) // NewPage has executed it
	return body.Bytes()
}

// pageHeader has fields of the page.
var pageHeader = http.Header{
	"Cache-Control":          {"no-store"},
	"Content-Type":           {"text/html; charset=utf-8"},
	"X-Content-Type-Options": {"nosniff"},
	"X-Robots-Tag":           {"noindex"},
	"Referrer-Policy":        {"same-origin"},
}

// Serve answers a request for which Pace has the verdict Stranger, Sheet, Clean or Pressed.
func (c *Check) Serve(w http.ResponseWriter, a *Arrival, q *judge.Request, r *http.Request) error {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	switch a.verdict {
	case Stranger:
		c.write(w, a, q, r)
		return nil
	case Sheet:
		header["Content-Type"], header["X-Content-Type-Options"] = []string{"text/css; charset=utf-8"}, []string{"nosniff"}
		header["Content-Length"] = []string{"0"}
		if a.pass.kind == passByStyle {
			http.SetCookie(w, c.cookie(a.pass, &a.bearer))
		}
		w.WriteHeader(http.StatusOK)
		return nil
	case Pressed:
		http.SetCookie(w, c.cookie(a.pass, &a.bearer))
		page := c.memory.keys().text(a.pass.as(pageToken), &a.bearer)
		header["Location"] = []string{redirectTarget(q.Target, parameter+page)}
	default:
		header["Location"] = []string{redirectTarget(q.Target, "")}
	}
	header["Content-Length"] = []string{"0"}
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// cookie returns the cookie of a pass.
func (c *Check) cookie(pass token, b *bearer) *http.Cookie {
	secure := b.origin.Scheme == "https"
	return &http.Cookie{
		Name: cookieName(secure), Value: c.memory.keys().text(pass, b), Path: "/", MaxAge: int(c.For.Seconds()),
		Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}
