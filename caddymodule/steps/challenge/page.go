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

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/headers"
)

//go:embed page.html
var pageText string

//go:embed pagetexts.json
var wordsText []byte

// data fills in a page. The words of a language, without markup, have Lang, Dir, Title, Heading, why
// the page is there (Check if it goes on by itself, Alone with the button alone), Cookies (that they
// must be allowed), Again (how a form is sent that was not), ButtonText and ReferenceLabel. Beside
// these a page has Text, StyleSheet (what goes on by itself: a style sheet, which is empty, and a
// script), Button (a form with it), Nonce (for style elements) and Reference (as the log has it).
type data map[string]string

// languages has the words of each language, and matcher finds the index of one.
var languages, matcher = func() (words []data, _ language.Matcher) {
	if err := json.Unmarshal(wordsText, &words); err != nil {
		panic(err)
	}
	var tags []language.Tag
	for _, w := range words {
		tags = append(tags, language.Make(w["Lang"]))
	}
	return words, language.NewMatcher(tags)
}()

const maxPage = 64 << 10

// builtin is the built-in page.
var builtin = template.Must(NewPage([]byte(pageText)))

// NewPage returns the page of a text, a template of HTML. All values are safe: nothing that a client
// sends is in them unescaped. The template must contain {{.StyleSheet}}, in its head, and {{.Button}}.
func NewPage(text []byte) (*template.Template, error) {
	if len(text) > maxPage {
		return nil, fmt.Errorf("the page has %d octets: at most %d are possible", len(text), maxPage)
	}
	t, err := template.New("page").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	const head, button = "<!-- head -->", "<!-- button -->"
	example := data{"StyleSheet": head, "Button": button, "Text": "", "Nonce": "", "Reference": ""}
	maps.Copy(example, languages[0])
	var page strings.Builder
	err = t.Execute(&page, example)
	switch {
	case err != nil:
		return nil, err
	case !strings.Contains(page.String(), head):
		return nil, errors.New("it lacks {{.StyleSheet}}, which goes into the head of the page")
	case !strings.Contains(page.String(), button):
		return nil, errors.New("it lacks {{.Button}}, the form with the button")
	}
	return t, nil
}

// maxLanguages bounds the octets of Accept-Language that are read.
const maxLanguages = 200

// wordsFor returns the words in the first language of a client that the page is in.
func wordsFor(r *http.Request) data {
	accept := strings.Join(r.Header["Accept-Language"], ",")
	accept = accept[:min(len(accept), maxLanguages)]
	entries := strings.Split(accept, ",") // for a field of which one entry is malformed
	_, i := language.MatchStrings(matcher, append([]string{accept}, entries...)...)
	return languages[i]
}

// What a page has: the style sheet, the script and the button. The script opens the URL with the
// token, and keeps the query as it is, and the fragment: once, also if something has kept the page.
const (
	style  = `<link rel="stylesheet" href="%s">`
	script = `<script nonce="%[1]s">addEventListener("load",()=>{let[u,f]=location.href.split(/(?=#)/),k="caddy-robots-%[2]s";` +
		`try{if(sessionStorage[k])return;sessionStorage[k]=1}catch{}` +
		`if(/^http/.test(u))location.replace(u+(u.includes("?")?"&":"?")+"` + parameter + `%[3]s"+(f||""))})</script>`
	button = `<form method="post" action="%s"><button type="submit" autofocus>%s</button></form>`
	policy = "default-src 'none'; style-src 'self' 'nonce-%[1]s'; script-src 'nonce-%[1]s'; form-action 'self'; base-uri 'none'"
)

// sentence is the answer to who does not take a page.
const sentence = "Programs request pages here in great numbers. Open this page in a browser first, and then send the request again.\n"

// why returns why the page is there.
func (a *Arrival) why(words data) string {
	switch {
	case !a.Request.Reads():
		return words["Alone"] + " " + words["Again"]
	case a.token.kind == openToken: // neither the style sheet nor a further try gives a cookie
		return words["Alone"] + " " + words["Cookies"]
	case a.alone:
		return words["Alone"]
	}
	return words["Check"]
}

// newPage returns the page, and adds its policy to the header.
func (a *Arrival) newPage(header http.Header) []byte {
	page := data{"Nonce": base64.RawURLEncoding.EncodeToString(a.page.id[:]), "Reference": a.page.reference(), "StyleSheet": ""}
	maps.Copy(page, wordsFor(a.HTTP))
	page["Text"] = a.why(page)
	if !a.alone {
		page["StyleSheet"] = fmt.Sprintf(style, withToken("", a.text(a.page.as(styleToken))))
		if a.Request.Reads() { // what else was sent is sent again by its user
			page["StyleSheet"] += fmt.Sprintf(script, page["Nonce"], page["Reference"], a.text(a.page.as(openToken)))
		}
	}
	action := withToken(redirectTarget(a.Request.Target), a.text(a.page.as(buttonToken)))
	action = action[strings.IndexByte(action, '?'):] // without a path, the browser keeps that of the page
	page["Button"] = fmt.Sprintf(button, html.EscapeString(action), page["ButtonText"])
	header["Content-Security-Policy"] = []string{fmt.Sprintf(policy, page["Nonce"])}
	body := bytes.NewBuffer(make([]byte, 0, 4096+len(page["Button"])))
	_ = a.check.page.Execute(body, page) // NewPage has executed it
	return body.Bytes()
}

// text returns the form of a token for the client.
func (a *Arrival) text(t token) string { return a.check.memory.keys().text(t, &a.bearer) }

// Answers implements step.Answerer.
func (c *Check) Answers(x *step.Exchange) bool {
	d, verdict := &x.Decision, c.slot.Of(x).verdict
	if verdict == Stranger {
		return d.Reason == Asked && !d.Monitored
	}
	return verdict > TooMany && (d.Action == judge.Pass || d.Monitored)
}

// answerHeader has the fields of all answers.
var answerHeader = http.Header{
	"Cache-Control":          {"no-store"},
	"X-Content-Type-Options": {"nosniff"},
	"X-Robots-Tag":           {"noindex"},
	"Referrer-Policy":        {"same-origin"},
}

// Answer implements step.Answerer: it answers a request with the verdict Stranger, Sheet, Clean or
// Pressed.
func (c *Check) Answer(x *step.Exchange, w http.ResponseWriter) error {
	a, header := c.slot.Of(x), w.Header()
	maps.Copy(header, answerHeader.Clone()) // a header directive may replace in the values
	status, media, body := http.StatusSeeOther, "text/plain; charset=utf-8", []byte(nil)
	switch a.verdict {
	case Stranger:
		status, body = http.StatusTooManyRequests, []byte(sentence)
		if takesHTML(x.HTTP) {
			media, body = "text/html; charset=utf-8", a.newPage(header)
		}
		if a.wait > 0 {
			header.Set("Retry-After", headers.RetryAfter(a.wait))
		}
	case Sheet:
		status, media = http.StatusOK, "text/css; charset=utf-8"
	case Pressed:
		header.Set("Location", withToken(redirectTarget(x.Request.Target), a.text(a.gives.as(pageToken))))
	default:
		header.Set("Location", redirectTarget(x.Request.Target))
	}
	if a.gives.at != 0 {
		http.SetCookie(w, a.cookie())
	}
	header.Set("Content-Type", media)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if x.HTTP.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
	return nil
}

// cookie returns the cookie of the pass that the client gets.
func (a *Arrival) cookie() *http.Cookie {
	secure := a.bearer.origin.Scheme == "https"
	return &http.Cookie{
		Name: cookieName(secure), Value: a.text(a.gives), Path: "/", MaxAge: int(a.check.passFor.Seconds()),
		Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}
