package e2e_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// hostlessSites returns sites that serve requests without a host. All have the
// same robots.txt.
func hostlessSites(back string) map[string]string {
	const text = "\"User-agent: *\nDisallow: /private/\n\nUser-agent: bingbot\nCrawl-delay: 600\""
	return map[string]string{
		"respond":       "respond /robots.txt " + text + "\n\trobots\n\trespond page",
		"reverse_proxy": "robots\n\treverse_proxy " + back,
		"inline":        "robots {\n\t\tsource inline " + text + "\n\t}\n\trespond page",
	}
}

// checkRulesApply checks that the path rules and the Crawl-delay of hostlessSites
// apply.
func checkRulesApply(t *testing.T, ask func(ua, path string) int) {
	t.Helper()
	for _, tt := range []struct {
		ua, path string
		want     int
	}{
		{chrome, "/private/x", 200}, {googlebot, "/private/x", 403}, {gptbot, "/private/x", 403}, {googlebot, "/x", 200},
		{googlebot, "/robots.txt", 200}, {bingbot, "/x", 200}, {bingbot, "/x", 429}, {bingbot, "/y", 429},
	} {
		if got := ask(tt.ua, tt.path); got != tt.want {
			t.Errorf("%s for %.60s: status %d, want %d", tt.path, tt.ua, got, tt.want)
		}
	}
}

// hostlessBackend returns a back end that ignores the host.
func hostlessBackend(t *testing.T) string {
	t.Helper()
	return newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, disallow("/private/"), "\nUser-agent: bingbot\nCrawl-delay: 600\n")
			return
		}
		fmt.Fprint(w, "page")
	}).URL
}

func TestHTTP10RequestsWithoutAHost(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://:$PORT", "http://site.test:$PORT, http://:$PORT"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			// One server has a site on a port of its own for each case.
			type site struct{ name, host string }
			sites, config := map[int]site{}, ""
			for name, block := range hostlessSites(hostlessBackend(t)) {
				for field, host := range map[string]string{"no Host": "", "an empty Host": "Host:\r\n"} {
					port := freePort(t)
					sites[port] = site{name + " " + field, host}
					config += strings.ReplaceAll(address, "$PORT", fmt.Sprint(port)) + " {\n\t" + block + "\n}\n"
				}
			}
			s := start(t, config)
			for port, site := range sites {
				t.Run(site.name, func(t *testing.T) {
					checkRulesApply(t, func(ua, path string) int {
						at := &server{t: t, host: s.host, port: port}
						return at.raw("GET " + path + " HTTP/1.0\r\n" + site.host + "User-Agent: " + ua + "\r\n\r\n").status
					})
				})
			}
		})
	}
}

func TestHTTP2RequestsWithoutAnAuthority(t *testing.T) {
	t.Parallel()
	for name, site := range hostlessSites(hostlessBackend(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			s := start(t, fmt.Sprintf("{\n\tauto_https disable_redirects\n}\nhttps://site.test:%[1]d, https://:%[1]d {\n\t%[2]s\n}\n", port, site))
			s.eventually("there is a certificate", func() bool {
				_, err := overHTTP2(port, hpack.HeaderField{Name: ":path", Value: "/"}, hpack.HeaderField{Name: "user-agent", Value: chrome})
				return err == nil
			})
			checkRulesApply(t, func(ua, path string) int {
				status, err := overHTTP2(port, hpack.HeaderField{Name: ":path", Value: path}, hpack.HeaderField{Name: "user-agent", Value: ua})
				if err != nil {
					t.Fatal(err)
				}
				return status
			})
			// Fields that a Go client would not send.
			for what, fields := range map[string][]hpack.HeaderField{
				"a name in the second of two User-Agent fields": {{Name: ":path", Value: "/private/x"}, {Name: "user-agent", Value: chrome}, {Name: "user-agent", Value: gptbot}},
				"an authority with a made-up port":              {{Name: ":authority", Value: "site.test:abc"}, {Name: ":path", Value: "/private/x"}, {Name: "user-agent", Value: gptbot}},
				"a host field instead of an authority":          {{Name: ":path", Value: "/private/x"}, {Name: "host", Value: "site.test"}, {Name: "user-agent", Value: gptbot}},
			} {
				if status, err := overHTTP2(port, fields...); err != nil || status != 403 {
					t.Errorf("%s: status %d, %v, want 403", what, status, err)
				}
			}
		})
	}
}

// overHTTP2 sends one GET with exactly these fields over a new connection and
// returns the status of the response.
func overHTTP2(port int, fields ...hpack.HeaderField) (status int, err error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", fmt.Sprintf("localhost:%d", port),
		&tls.Config{InsecureSkipVerify: true, ServerName: "site.test", NextProtos: []string{"h2"}})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	fields = append([]hpack.HeaderField{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}}, fields...)
	for _, f := range fields {
		if err := encoder.WriteField(f); err != nil {
			return 0, err
		}
	}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return 0, err
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := framer.WriteSettings(); err != nil {
		return 0, err
	}
	if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}); err != nil {
		return 0, err
	}
	for {
		switch frame, err := framer.ReadFrame(); f := frame.(type) {
		case *http2.MetaHeadersFrame:
			return strconv.Atoi(f.PseudoValue("status"))
		case *http2.RSTStreamFrame:
			return 0, fmt.Errorf("the stream was reset: %v", f.ErrCode)
		case *http2.GoAwayFrame:
			return 0, fmt.Errorf("the server went away: %v", f.ErrCode)
		default:
			if err != nil {
				return 0, err
			}
		}
	}
}
