package verify

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// web is a transport that answers reads of lists and directories without a network.
type web struct {
	mu    sync.Mutex
	pages map[string]func(*http.Request) *http.Response
	reads map[string]int
}

func newWeb() *web {
	return &web{pages: make(map[string]func(*http.Request) *http.Response), reads: make(map[string]int)}
}

func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	page := w.pages[r.URL.String()]
	w.reads[r.URL.String()]++
	w.mu.Unlock()
	if page == nil {
		return nil, errors.New("no route to host")
	}
	res := page(r)
	res.Request = r
	return res, nil
}

func (w *web) set(url string, page func(*http.Request) *http.Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[url] = page
}

func (w *web) count(url string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads[url]
}

// page answers with status 200.
func page(body string, fields ...string) func(*http.Request) *http.Response {
	return answerWith(200, body, fields...)
}

// answerWith answers with a status, a body and header fields (name, value, name, value …).
func answerWith(status int, body string, fields ...string) func(*http.Request) *http.Response {
	return func(*http.Request) *http.Response {
		header := make(http.Header)
		for i := 0; i < len(fields); i += 2 {
			header.Add(fields[i], fields[i+1])
		}
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}
	}
}

// names is a Resolver without a network. Names that it does not have do not exist.
type names struct {
	mu      sync.Mutex
	reverse map[string][]string
	forward map[string][]netip.Addr
	fail    error // the answer to every query, if set
	asked   int   // calls of LookupAddr
}

func (n *names) LookupAddr(_ context.Context, addr string) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	if n.fail != nil {
		return nil, n.fail
	}
	if names := n.reverse[addr]; names != nil {
		return names, nil
	}
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil {
		return nil, n.fail
	}
	if addrs := n.forward[host]; addrs != nil {
		return addrs, nil
	}
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

func (n *names) setFail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fail = err
}

// memory is a Storage in memory.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (m *memory) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.values[key]; ok {
		return value, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memory) Store(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = make(map[string][]byte)
	}
	m.values[key] = value
	return nil
}

// events is an Observer that records what it receives.
type events struct {
	mu      sync.Mutex
	reads   map[SourceKind][]error
	lookups map[string]int // by suffix
	dropped int
}

func (e *events) SourceRead(s SourceState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reads[s.Kind] = append(e.reads[s.Kind], s.Err)
}

func (e *events) Lookup(_ netip.Addr, suffixes []string, _ claim.State, _ time.Duration, _ error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lookups[suffixes[0]]++
}

func (e *events) LookupDropped() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped++
}

// lastRead returns the error of the last read: "" if it succeeded, "none" if there was no read.
func (e *events) lastRead(kind SourceKind) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	reads := e.reads[kind]
	if len(reads) == 0 {
		return "none"
	}
	if err := reads[len(reads)-1]; err != nil {
		return err.Error()
	}
	return ""
}

const (
	listURL  = "https://operator.test/addresses.json"
	agentURI = "https://agent.test"
)

// rows are crawlers with different documented methods.
var rows = []crawler.Crawler{
	{Name: "Listed", Robots: []string{"Listed"}, UserAgents: []string{"Listed"}, Class: crawler.Registered, Verify: crawler.Verify{Ranges: []string{listURL}}},
	{Name: "Named", Robots: []string{"Named"}, UserAgents: []string{"Named"}, Class: crawler.Registered, Verify: crawler.Verify{Hosts: []string{"crawl.test"}}},
	{Name: "Both", Robots: []string{"Both"}, UserAgents: []string{"Both"}, Class: crawler.Registered,
		Verify: crawler.Verify{Ranges: []string{listURL}, Hosts: []string{"crawl.test"}}},
	{Name: "Signer", Robots: []string{"Signer"}, UserAgents: []string{"Signer"}, Class: crawler.Registered, Verify: crawler.Verify{SignatureAgents: []string{agentURI}}},
	{Name: "Plain", Robots: []string{"Plain"}, UserAgents: []string{"Plain"}, Class: crawler.Registered},
	{Name: "Unconfirmed", Robots: []string{"Unconfirmed"}, UserAgents: []string{"Unconfirmed"}, Class: crawler.Registered, Verify: crawler.Verify{Ranges: []string{listURL}},
		Unverified: []string{"verify"}},
}

// fixture is a Verifier and a Checker with test doubles of everything that they use.
type fixture struct {
	*Verifier
	checker  *Checker
	registry *crawler.Registry
	web      *web
	names    *names
	storage  *memory
	events   *events
	proof    claim.Proof
}

// newFixture returns a fixture that is not started. change can change its settings.
func newFixture(t testing.TB, change ...func(*Config)) *fixture {
	t.Helper()
	registry, err := new(crawler.Registry).With(rows...)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{
		registry: registry, web: newWeb(), storage: new(memory), events: &events{lookups: make(map[string]int), reads: make(map[SourceKind][]error)},
		names: &names{reverse: make(map[string][]string), forward: make(map[string][]netip.Addr)},
	}
	config := Config{
		Lists: true, DNS: true, Signatures: true, Client: &http.Client{Transport: f.web}, Resolver: f.names, Observer: f.events,
	}
	for _, c := range change {
		c(&config)
	}
	f.Verifier = New(config)
	if f.checker, err = f.Bind(registry); err != nil {
		t.Fatal(err)
	}
	return f
}

// Start starts the Verifier with the storage.
func (f *fixture) Start() { f.Verifier.Start(f.storage) }

// ask checks by Address whether addr is the crawler with the given name.
func (f *fixture) ask(name, addr string) claim.Result {
	ip, _ := netip.ParseAddr(addr)
	return f.checker.Address(f.registry.Lookup(name), claim.Client{Addr: ip, Proof: &f.proof}, f.config.Now())
}

const goodList = `{"creationTime": "2026-08-14T20:03:38.055838", "prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8:1::/48"}]}`

// startWithData starts f with a good list and a few names in DNS, and waits until it is idle.
func startWithData(f *fixture) {
	f.web.set(listURL, page(goodList))
	f.names.reverse["203.0.113.5"] = []string{"5.crawl.test."}
	f.names.forward["5.crawl.test."] = []netip.Addr{netip.MustParseAddr("203.0.113.5")}
	f.names.reverse["203.0.113.6"] = []string{"5.crawl.test."}
	f.names.reverse["203.0.113.7"] = []string{"7.crawl.test."} // which does not exist
	f.Start()
	synctest.Wait()
}

// askTwice checks the claim, waits for the lookups that the check started, and checks it again.
func (f *fixture) askTwice(name, addr string) claim.Result {
	f.ask(name, addr)
	synctest.Wait()
	return f.ask(name, addr)
}

// stats counts the entries of the cache of DNS answers, and the lookups that wait or run.
func (f *fixture) stats() (n [failed + 1]int, pending int) {
	for known := range f.answers.answers.All() {
		if a, left := known.load(f.config.Now()); left > 0 {
			n[a]++
		}
	}
	for _, s := range f.sets {
		pending += int(s.queued.Load())
	}
	return n, pending
}
