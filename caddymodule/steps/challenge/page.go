package challenge

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

//go:embed words.json
var wordsText []byte

// texts are the words of the page in a language. words.json has them by language.
type texts struct {
	Title          string `json:"title"`
	Heading        string `json:"heading"`
	Check          string `json:"check"`   // why the page is there, if it goes on by itself
	Alone          string `json:"alone"`   // the same, if it has the button alone
	Cookies        string `json:"cookies"` // that cookies must be allowed
	Again          string `json:"again"`   // how a form is sent that was not
	ButtonText     string `json:"button"`
	ReferenceLabel string `json:"reference"`
}

// Page is the page that asks a client to show that it is a browser. It is immutable.
type Page struct {
	forms map[string]forms // by language
	own   bool             // the page is the built-in one
}

// forms are the pages in a language, by what they say.
type forms [endOfForms]form

const (
	checkForm   = iota // it goes on by itself
	aloneForm          // it has the button alone
	cookiesForm        // the same, and the client does not keep cookies
	againForm          // the client has sent a form, or the like
	endOfForms
)

// form is a page in a language, cut at the places that differ for each client.
type form struct {
	button string   // the text of the button
	parts  []string // before each of the places, and after the last one
	places []int    // an index of marks
}

// marks stand for what differs for each client, while a template is executed.
var marks = [...]string{"caddyRobotsHeadMark", "caddyRobotsButtonMark", "caddyRobotsNonceMark", "caddyRobotsReferenceMark"}

const (
	headMark = iota
	buttonMark
	nonceMark
	referenceMark
)

// pageData fills in a page. The fields of texts belong to it.
type pageData struct {
	texts
	Lang, Dir  string
	Text       string        // why the page is there
	StyleSheet template.HTML // what goes on by itself: the style sheet and a script; empty in a page with the button alone
	Button     template.HTML // a form with the button
	Nonce      string        // for style elements
	Reference  string        // of the check, as the log has it
}

const maxPage = 64 << 10

// builtin is the built-in page.
var builtin = func() *Page {
	p, err := newPage(pageText)
	if err != nil {
		panic(err) // a test executes it
	}
	p.own = true
	return p
}()

// NewPage returns the page of a text, an HTML template. The template must contain
// {{.StyleSheet}}, in its head, and {{.Button}}.
func NewPage(text []byte) (*Page, error) {
	if len(text) > maxPage {
		return nil, fmt.Errorf("the page has %d octets: at most %d are possible", len(text), maxPage)
	}
	return newPage(string(text))
}

func newPage(text string) (*Page, error) {
	t, err := template.New("page").Parse(text)
	if err != nil {
		return nil, err
	}
	var all map[string]texts
	if err := json.Unmarshal(wordsText, &all); err != nil {
		return nil, err
	}
	p := &Page{forms: make(map[string]forms)}
	for lang, w := range all {
		var all forms
		for i, why := range [endOfForms]string{w.Check, w.Alone, w.Alone + " " + w.Cookies, w.Alone + " " + w.Again} {
			if all[i], err = newForm(t, lang, w, why); err != nil {
				return nil, err
			}
		}
		p.forms[lang] = all
	}
	return p, nil
}

// newForm executes a template, and cuts the result at its marks.
func newForm(t *template.Template, lang string, w texts, why string) (f form, err error) {
	data := pageData{
		texts: w, Lang: lang, Dir: "ltr", Text: why, StyleSheet: template.HTML(marks[headMark]), Button: template.HTML(marks[buttonMark]),
		Nonce: marks[nonceMark], Reference: marks[referenceMark],
	}
	if lang == "ar" {
		data.Dir = "rtl"
	}
	var text bytes.Buffer
	if err := t.Execute(&text, data); err != nil {
		return f, err
	}
	for rest := text.String(); ; {
		at, mark := len(rest), -1
		for i, m := range marks {
			if j := strings.Index(rest, m); j >= 0 && j < at {
				at, mark = j, i
			}
		}
		f.parts = append(f.parts, rest[:at])
		if mark < 0 {
			break
		}
		f.places = append(f.places, mark)
		rest = rest[at+len(marks[mark]):]
	}
	switch {
	case !slices.Contains(f.places, headMark):
		return f, errors.New("it lacks {{.StyleSheet}}, which goes into the head of the page")
	case !slices.Contains(f.places, buttonMark):
		return f, errors.New("it lacks {{.Button}}, the form with the button")
	}
	f.button = w.ButtonText
	return f, nil
}

// maxLanguages bounds the octets of Accept-Language that are read.
const maxLanguages = 200

// languageOf returns the first language of a client that the page is in.
func (p *Page) languageOf(r *http.Request) string {
	accept := strings.Join(r.Header["Accept-Language"], ",")
	best, weight := "en", float32(0)
	for entry := range strings.SplitSeq(accept[:min(len(accept), maxLanguages)], ",") {
		tags, q, err := language.ParseAcceptLanguage(entry) // not all at once: an unknown one would hide the others
		if err != nil || len(tags) == 0 || q[0] <= weight {
			continue
		}
		base, _ := tags[0].Base()
		if _, ok := p.forms[base.String()]; ok {
			best, weight = base.String(), q[0]
		}
	}
	return best
}

// script opens the URL with the token, and keeps the query as it is, and the fragment: once, also
// if something has kept the page.
const script = `addEventListener("load",()=>{let[u,f]=location.href.split(/(?=#)/),k="caddy-robots-%[1]s";` +
	`try{if(sessionStorage[k])return;sessionStorage[k]=1}catch{}` +
	`if(/^http/.test(u))location.replace(u+(u.includes("?")?"&":"?")+"` + parameter + `%[2]s"+(f||""))})`

// sentence is the answer to who does not take a page.
const sentence = "Programs request pages here in great numbers. Open this page in a browser first, and then send the request again.\n"

// formOf returns what the page says.
func (a *Arrival) formOf(q *judge.Request) int {
	switch {
	case !q.Reads():
		return againForm
	case a.noStore:
		return cookiesForm
	case a.alone:
		return aloneForm
	}
	return checkForm
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
	k, page := (*c.memory.ring.Load())[0], c.Page
	forms := page.forms[page.languageOf(r)]
	f := &forms[a.formOf(q)]
	nonce := base64.RawURLEncoding.EncodeToString(a.page.id[:])
	style, values := "'self'", [len(marks)]string{nonceMark: nonce, referenceMark: a.page.reference()}
	if a.alone || !page.own {
		style += " 'nonce-" + nonce + "'"
	}
	switch {
	case a.alone && page.own:
		values[headMark] = `<style nonce="` + nonce + `">` + pageStyle + `</style>`
	case !a.alone:
		sheet, open := k.text(a.page.as(styleToken), &a.bearer), k.text(a.page.as(openToken), &a.bearer)
		values[headMark] = `<link rel="stylesheet" href="?` + parameter + sheet + `">`
		if q.Reads() { // what else was sent is sent again by its user
			values[headMark] += `<script nonce="` + nonce + `">` + fmt.Sprintf(script, a.page.reference(), open) + `</script>`
		}
	}
	values[buttonMark] = `<form method="post" action="` + html.EscapeString(withToken(q.Target, k.text(a.page.as(buttonToken), &a.bearer))) +
		`"><button type="submit" autofocus>` + html.EscapeString(f.button) + `</button></form>`
	body := make([]byte, 0, 4096+len(values[buttonMark]))
	for i, part := range f.parts {
		if body = append(body, part...); i < len(f.places) {
			body = append(body, values[f.places[i]]...)
		}
	}
	header["Content-Security-Policy"] = []string{"default-src 'none'; style-src " + style + "; script-src 'nonce-" + nonce +
		"'; form-action 'self'; base-uri 'none'"}
	return body
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
		css := ""
		if a.pass.kind == passByStyle {
			css = pageStyle
			http.SetCookie(w, c.cookie(a.pass, &a.bearer, c.For))
		}
		header["Content-Length"] = []string{strconv.Itoa(len(css))}
		w.WriteHeader(http.StatusOK)
		if r.Method != http.MethodHead {
			_, _ = w.Write([]byte(css))
		}
		return nil
	case Pressed:
		http.SetCookie(w, c.cookie(a.pass, &a.bearer, c.For))
		page := (*c.memory.ring.Load())[0].text(a.pass.as(pageToken), &a.bearer)
		header["Location"] = []string{redirectTarget(q.Target, parameter+page)}
	default:
		header["Location"] = []string{redirectTarget(q.Target, "")}
	}
	header["Content-Length"] = []string{"0"}
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// cookie returns the cookie of a pass that is good for a time.
func (c *Check) cookie(pass token, b *bearer, good time.Duration) *http.Cookie {
	secure := b.origin.Scheme == "https"
	return &http.Cookie{
		Name: cookieName(secure), Value: (*c.memory.ring.Load())[0].text(pass, b), Path: "/", MaxAge: int(good.Seconds()),
		Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// renewed returns the cookie of a pass that is renewed now.
func (c *Check) renewed(a *Arrival) *http.Cookie {
	pass, age := a.pass, a.pass.age(time.Unix(int64(a.now), 0))
	pass.late = uint16(age / time.Minute)
	return c.cookie(pass, &a.bearer, pass.life(c.For)-age)
}
