package challenge

import (
	"bufio"
	"errors"
	"html"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// waitAtMost is how long a client of a storm waits for an answer.
const waitAtMost = 10 * time.Second

// answer is what a client got.
type answer struct {
	status int // 0 if there was none in time
	header http.Header
	body   string
	took   time.Duration
}

// visitor is a client with an address, a User-Agent and a cookie of its own. Each request
// has a connection of its own.
type visitor struct {
	port   string
	host   string
	from   net.IP
	agent  string
	fields string // header lines, each with its end
	cookie string
}

// Fields of clients.
const (
	chromeFields = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n" +
		"Accept-Language: de-DE,de;q=0.9,en;q=0.8\r\nUpgrade-Insecure-Requests: 1\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n" +
		"Sec-Fetch-User: ?1\r\nSec-Fetch-Dest: document\r\n" + `Sec-Ch-Ua: "Chromium";v="131", "Not_A Brand";v="24"` + "\r\n"
	styleFields   = "Accept: text/css,*/*;q=0.1\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: style\r\n"
	imageFields   = "Accept: image/avif,*/*;q=0.8\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n"
	libraryFields = "Accept: */*\r\nAccept-Encoding: gzip\r\n"
)

// send sends a request, with further header lines.
func (v *visitor) send(method, target, fields string) (a answer, err error) {
	began := time.Now()
	defer func() { a.took = time.Since(began) }()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: v.from}, Timeout: waitAtMost}
	conn, err := dialer.Dial("tcp", net.JoinHostPort("127.0.0.1", v.port))
	if err != nil {
		return a, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(began.Add(waitAtMost))
	if v.cookie != "" {
		fields += "Cookie: " + v.cookie + "\r\n"
	}
	if method == http.MethodPost {
		fields += "Content-Length: 0\r\n"
	}
	request := method + " " + target + " HTTP/1.1\r\nHost: " + v.host + "\r\nUser-Agent: " + v.agent + "\r\nConnection: close\r\n" +
		fields + "\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		return a, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if cookies := resp.Cookies(); len(cookies) > 0 {
		v.cookie = cookies[0].Name + "=" + cookies[0].Value
	}
	a.status, a.header, a.body = resp.StatusCode, resp.Header, string(body)
	return a, err
}

// open requests a document.
func (v *visitor) open(target string) (answer, error) {
	return v.send(http.MethodGet, target, v.fields)
}

var (
	styleLink = regexp.MustCompile(`<link rel="stylesheet" href="([^"]*)"`)
	openToken = regexp.MustCompile(`"(caddy-robots-pass=[^"]*)"`) // of the script
)

// link returns the URL that a page of the check has; "" if there is none.
func link(form *regexp.Regexp, path, page string) string {
	found := form.FindStringSubmatch(page)
	if found == nil {
		return ""
	}
	return path + html.UnescapeString(found[1])
}

// opened returns the URL that the script of a page opens; "" if there is none.
func opened(path, page string) string {
	token := link(openToken, "", page)
	if token == "" {
		return ""
	}
	if strings.Contains(path, "?") {
		return path + "&" + token
	}
	return path + "?" + token
}

var errNoCheck = errors.New("there is no check")

// browse opens a page as a browser does, with the check. extra is how long all but the
// last request took.
func (v *visitor) browse(path string) (page answer, extra time.Duration, err error) {
	first, err := v.open(path)
	if err != nil || first.status != http.StatusTooManyRequests {
		return first, 0, err
	}
	style, open := link(styleLink, path, first.body), opened(path, first.body)
	if style == "" || open == "" {
		return first, 0, errNoCheck
	}
	sheet, err := v.send(http.MethodGet, style, styleFields)
	if err != nil {
		return sheet, 0, err
	}
	back, err := v.open(open)
	if err != nil || back.status != http.StatusSeeOther {
		return back, 0, err
	}
	page, err = v.open(back.header.Get("Location"))
	return page, first.took + sheet.took + back.took, err
}
