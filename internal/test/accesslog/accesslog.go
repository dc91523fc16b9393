// Package accesslog generates access logs for benchmarks and tests.
package accesslog

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"time"
)

// Log generates an access log while it is read. About three of four requests
// are from browsers, the others from crawlers and programs. They have different
// addresses, targets and increasing times. Two Logs with the same arguments
// have the same content. A Log can be read once, and is not safe for concurrent
// use.
type Log struct {
	line      lineFunc
	lines     int
	addresses int
	random    *rand.Rand
	at        time.Time     // of the last line
	step      time.Duration // at most, between two lines
	buf       []byte        // lines that were generated and not read yet
	n         int           // number of generated lines
}

// New returns a log with the given number of lines, from at most the given
// number of client addresses, which must be positive. format is combined (the
// format of Apache and nginx) or caddy (Caddy's JSON); New panics for any other
// format.
func New(format string, lines, addresses int) *Log {
	line, ok := formats[format]
	if !ok {
		panic("accesslog: unknown format " + format)
	}
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	return &Log{line: line, lines: lines, addresses: addresses, random: rand.New(rand.NewPCG(1, 2)), at: start, step: 20 * time.Millisecond}
}

// Over spreads the lines over about a period, in place of ten milliseconds for each.
func (g *Log) Over(period time.Duration) *Log {
	g.step = max(2*period/time.Duration(g.lines), time.Millisecond)
	return g
}

// lineFunc appends a line of a log to b. It takes the sizes of the request and
// the response from r.
type lineFunc func(b []byte, r *rand.Rand, at time.Time, addr netip.Addr, agent, target string) []byte

var formats = map[string]lineFunc{"combined": combinedLine, "caddy": caddyLine}

func combinedLine(b []byte, r *rand.Rand, at time.Time, addr netip.Addr, agent, target string) []byte {
	return fmt.Appendf(b, "%s - - [%s] \"GET %s HTTP/1.1\" 200 %d \"https://example.com/\" \"%s\"\n",
		addr, at.Format("02/Jan/2006:15:04:05 -0700"), target, 500+r.IntN(50_000), agent)
}

func caddyLine(b []byte, r *rand.Rand, at time.Time, addr netip.Addr, agent, target string) []byte {
	return fmt.Appendf(b,
		`{"level":"info","ts":%.7f,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"%s","remote_port":"%d","client_ip":"%s","proto":"HTTP/2.0","method":"GET","host":"example.com","uri":"%s","headers":{"Accept":["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],"Accept-Language":["en-US,en;q=0.5"],"Accept-Encoding":["gzip, deflate, br"],"User-Agent":["%s"],"Sec-Fetch-Mode":["navigate"]},"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"example.com"}},"bytes_read":0,"user_id":"","duration":0.000365512,"size":%d,"status":200,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/html; charset=utf-8"],"Etag":["\"abc\""]}}`+"\n",
		float64(at.UnixMicro())/1e6, addr, 1024+r.IntN(60_000), addr, target, agent, 500+r.IntN(50_000))
}

var agents = []string{
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
	"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
	"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
	"CCBot/2.0 (https://commoncrawl.org/faq/)",
	"curl/8.5.0",
	"ExampleSpider/1.0 (+https://example.org/spider)",
}

// agent returns one of 2,107 different User-Agents.
func (g *Log) agent() string {
	if g.random.IntN(4) == 0 {
		return agents[g.random.IntN(len(agents))]
	}
	return fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.0 Safari/537.36",
		100+g.random.IntN(42), g.random.IntN(50))
}

func (g *Log) target() string {
	switch g.random.IntN(20) {
	case 0:
		return "/robots.txt"
	case 1, 2:
		return fmt.Sprintf("/private/%d", g.random.IntN(1000))
	}
	return fmt.Sprintf("/page/%d/%d.html?id=%d", g.random.IntN(100), g.random.IntN(10_000), g.random.IntN(100_000))
}

// Read implements io.Reader. It returns io.EOF after the last line, and no
// other error.
func (g *Log) Read(p []byte) (int, error) {
	for len(g.buf) < len(p) && g.n < g.lines {
		g.n++
		g.at = g.at.Add(time.Duration(g.random.IntN(int(g.step/time.Millisecond))) * time.Millisecond)
		v := uint32(g.random.IntN(g.addresses)) * 2654435761 // a one-to-one mapping that spreads the addresses
		addr := netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
		g.buf = g.line(g.buf, g.random, g.at, addr, g.agent(), g.target())
	}
	if len(g.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(p, g.buf)
	g.buf = g.buf[:copy(g.buf, g.buf[n:])]
	return n, nil
}
