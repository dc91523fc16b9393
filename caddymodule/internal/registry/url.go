package registry

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/document"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// maxRejectionsLogged is the number of rejected rows that are logged one by one.
const maxRejectionsLogged = 20

// CheckURL returns an error if the URL of a registry is malformed or insecure. It
// must be https, except on a loopback address, because the rows decide which
// clients robots.txt applies to.
func CheckURL(address string) error {
	_, err := document.ParseURL(address)
	return err
}

// Additions are the crawlers of a registry URL. They are immutable.
type Additions struct {
	rows     []crawler.Crawler
	rejected []crawler.Rejection // rows that could not be read

	// builtin returns the built-in registry with the rows added, which most sites
	// share.
	builtin func() (*crawler.Registry, []crawler.Rejection)
}

func parse(r *document.Response, _ *document.Copy[*Additions], _ time.Time) (*Additions, error) {
	rows, rejected, err := crawler.ReadAdditions(r.Body)
	if err != nil {
		return nil, fmt.Errorf("the document is not a registry: %w", err)
	}
	rows = slices.DeleteFunc(rows, func(row crawler.Crawler) bool {
		err := checkFacts(&row.Verify)
		if err != nil {
			rejected = append(rejected, crawler.Rejection{Name: row.Name, Reason: err.Error()})
		}
		return err != nil
	})
	extend := func() (*crawler.Registry, []crawler.Rejection) { return crawler.Builtin().Extend(rows) }
	return &Additions{rows, rejected, sync.OnceValues(extend)}, nil
}

// extend returns base with the rows added, and the rows that were rejected. a may
// be nil.
func (a *Additions) extend(base *crawler.Registry) (*crawler.Registry, []crawler.Rejection) {
	if a == nil {
		return base, nil
	}
	extend := a.builtin
	if base != crawler.Builtin() {
		extend = func() (*crawler.Registry, []crawler.Rejection) { return base.Extend(a.rows) }
	}
	registry, rejected := extend()
	return registry, slices.Concat(a.rejected, rejected)
}

// Document is the last good copy of a registry URL. It outlives a reload.
type Document = document.Source[*Additions]

// NewDocument returns the Document of a URL, without a copy.
func NewDocument(address string) *Document { return &Document{URL: address, Parse: parse} }

// additionsOf returns the additions of the copy in use, nil if there is none.
func additionsOf(d *Document) *Additions {
	if c := d.Copy(); c != nil {
		return c.Value
	}
	return nil
}

// URL is a registry that one configuration reads from a URL.
type URL struct {
	document *Document
	storage  document.Storage
	log      Log

	kept      atomic.Pointer[error] // of the last read
	mu        sync.Mutex
	followers []func(*Additions)
}

// NewURL returns a URL that reads a Document. Copies are kept in storage.
func NewURL(d *Document, storage document.Storage, log Log) *URL {
	log.Logger = log.With(zap.String("url", d.URL))
	return &URL{document: d, storage: storage, log: log}
}

// For returns the Registry of a handler, which has crawlers of its own too.
func (u *URL) For(add Adder) Registry { return &ofURL{url: u, add: add} }

// ofURL implements Registry. After a reload the crawlers of the URL are known at once, after
// a restart only after the first read.
type ofURL struct {
	url  *URL
	add  Adder
	base *crawler.Registry // what the URL adds to
	mu   sync.Mutex
	used *Additions
}

// Read implements Registry.
func (r *ofURL) Read() (registry *crawler.Registry, err error) {
	r.base, err = r.add(crawler.Builtin())
	if err != nil {
		return nil, err
	}
	r.used = additionsOf(r.url.document)
	registry, _ = r.used.extend(r.base)
	return registry, nil
}

// Follow implements Registry.
func (r *ofURL) Follow(use func(*crawler.Registry) error) (stop func()) {
	follow := func(latest *Additions) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if latest == r.used {
			return
		}
		r.used = latest
		registry, _ := latest.extend(r.base)
		if err := use(registry); err != nil {
			r.url.log.failed(err, &r.url.kept)
		}
	}
	r.url.mu.Lock()
	r.url.followers = append(r.url.followers, follow)
	r.url.mu.Unlock()
	follow(additionsOf(r.url.document))
	return func() {} // Run calls it no more when it has ended
}

// Err implements Registry.
func (r *ofURL) Err() (err, storageErr error) {
	return value(&r.url.kept), r.url.document.StorageError()
}

// Run loads the stored copy, then reads the URL at intervals until ctx ends.
func (u *URL) Run(ctx context.Context) {
	reader := document.NewReader(document.Config{Storage: u.storage, Folder: "robots/registry"})
	defer reader.Close()
	if u.document.Restore(ctx, reader) {
		u.logRows()
	}
	u.logStorage()
	u.notify() // the crawlers may have changed since Read
	u.document.Run(ctx, reader, u.fetched)
}

// fetched reports a read.
func (u *URL) fetched(changed bool, err error) {
	u.logStorage()
	if err != nil {
		u.log.failed(err, &u.kept)
		return
	}
	u.kept.Store(nil)
	if !changed {
		u.log.Count("unchanged")
		return
	}
	u.logRows()
	u.notify()
	u.log.Count("loaded")
}

// logRows logs the rows of a new copy.
func (u *URL) logRows() {
	additions := additionsOf(u.document)
	_, rejected := additions.extend(crawler.Builtin())
	for i, r := range rejected {
		if i == maxRejectionsLogged {
			u.log.Warn("more rows of the registry were rejected", zap.Int("rows", len(rejected)-i))
			break
		}
		u.log.Warn("a row of the registry was rejected", zap.String("crawler", r.Name), zap.String("reason", r.Reason))
	}
	u.log.Info("the registry was fetched", zap.Int("rows", len(additions.rows)), zap.Int("rejected", len(rejected)))
}

// notify gives the crawlers to the followers.
func (u *URL) notify() {
	u.mu.Lock()
	followers := slices.Clone(u.followers)
	u.mu.Unlock()
	for _, follow := range followers {
		follow(additionsOf(u.document))
	}
}

// logStorage logs why the copy could not be loaded or stored.
func (u *URL) logStorage() {
	if err := u.document.StorageError(); err != nil {
		u.log.Warn("the copy of the registry can't be loaded from storage or stored: "+
			"after a restart, its crawlers may be unknown until the URL is read again", zap.Error(err))
	}
}

// readURL reads a registry URL once.
func readURL(address string) (*crawler.Registry, error) {
	if err := CheckURL(address); err != nil {
		return nil, err
	}
	reader := document.NewReader(document.Config{})
	defer reader.Close()
	d := NewDocument(address)
	if _, err := d.Fetch(context.Background(), reader); err != nil {
		return nil, err
	}
	registry, _ := additionsOf(d).extend(crawler.Builtin())
	return registry, nil
}

// localDomains are the top-level domains of names in local networks: RFC 6761,
// RFC 6762 with its appendix G, the list of special-use domain names, and ICANN's
// resolution on private use.
var localDomains = []string{"localhost", "local", "internal", "arpa", "lan", "home", "corp", "intranet", "private", "test"}

// maxHosts is the number of host suffixes that a row of a third party can have.
const maxHosts = 32

// checkFacts returns an error if the facts for verification in a row of a third
// party can't be used, or would make this server ask its own network.
func checkFacts(facts *crawler.Verify) error {
	if len(facts.Hosts) > maxHosts {
		return fmt.Errorf("verify: %d hosts: the limit is %d", len(facts.Hosts), maxHosts)
	}
	for _, suffix := range facts.Hosts {
		if err := crawler.CheckSuffix(suffix); err != nil {
			return fmt.Errorf("verify: hosts: %w", err)
		}
		if isLocal(suffix) {
			return fmt.Errorf("verify: hosts: %q is in a local network", suffix)
		}
	}
	for _, address := range slices.Concat(facts.Ranges, facts.SignatureAgents) {
		u, err := document.ParseURL(address)
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		if isLocal(u.Hostname()) {
			return fmt.Errorf("verify: %q is the URL of a loopback or private address", u.Redacted())
		}
	}
	return nil
}

// isLocal reports whether a host is a loopback or private address, even in a form
// that only resolvers read, or a name in a local network.
func isLocal(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return netaddr.IsSpecial(addr.Unmap().WithZone(""))
	}
	host = strings.ToLower(strings.Trim(host, "."))
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == host || slices.Contains(localDomains, last) || '0' <= last[0] && last[0] <= '9'
}
