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
type Document struct{ source document.Source[*Additions] }

// NewDocument returns the Document of a URL, without a copy.
func NewDocument(address string) *Document {
	return &Document{document.Source[*Additions]{URL: address, Parse: parse}}
}

// additions returns the additions of the copy in use, nil if there is none.
func (d *Document) additions() *Additions {
	if c := d.source.Copy(); c != nil {
		return c.Value
	}
	return nil
}

// URL is a registry that one configuration reads from a URL.
type URL struct {
	document *Document
	storage  document.Storage
	log      *zap.Logger
	count    func(outcome string)

	failed    atomic.Pointer[error] // of the last read
	mu        sync.Mutex
	followers []func(*Additions)
}

// Err returns the error of the last read.
func (u *URL) Err() error {
	if err := u.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// StorageError returns why the copy could not be loaded from storage or stored, until it is
// stored; nil if nothing failed.
func (u *URL) StorageError() error { return u.document.source.StorageError() }

// NewURL returns a URL that reads a Document. Copies are kept in storage. count is
// called with the outcome of each read, after it was logged: loaded, unchanged or
// failed.
func NewURL(d *Document, storage document.Storage, log *zap.Logger, count func(outcome string)) *URL {
	return &URL{document: d, storage: storage, log: log.With(zap.String("url", d.source.URL)), count: count}
}

// Extend returns base with the crawlers that are known now, and their Additions.
func (u *URL) Extend(base *crawler.Registry) (*crawler.Registry, *Additions) {
	additions := u.document.additions()
	registry, _ := additions.extend(base)
	return registry, additions
}

// Follow makes Run call use with base and the crawlers of the URL whenever these
// are no longer the Additions used.
func (u *URL) Follow(base *crawler.Registry, used *Additions, use func(*crawler.Registry)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.followers = append(u.followers, func(latest *Additions) {
		if latest != used {
			used = latest
			registry, _ := latest.extend(base)
			use(registry)
		}
	})
}

// Run loads the stored copy, then reads the URL at intervals until ctx ends.
func (u *URL) Run(ctx context.Context) {
	reader := document.NewReader(document.Config{Storage: u.storage, Folder: "robots/registry", StorageFailed: u.storageFailed})
	defer reader.Close()
	if u.document.source.Restore(ctx, reader) {
		u.logRows()
	}
	u.notify() // the crawlers may have changed since Extend
	u.document.source.Run(ctx, reader, u.fetched)
}

// fetched reports a read.
func (u *URL) fetched(changed bool, err error) {
	u.failed.Store(nil)
	if err != nil {
		u.failed.Store(&err)
	}
	switch {
	case err != nil:
		u.log.Error("the registry can't be used: the previous crawlers stay in force", zap.Error(err))
		u.count("failed")
	case changed:
		u.logRows()
		u.notify()
		u.count("loaded")
	default:
		u.count("unchanged")
	}
}

// logRows logs the rows of a new copy.
func (u *URL) logRows() {
	additions := u.document.additions()
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
		follow(u.document.additions())
	}
}

func (u *URL) storageFailed(_ string, err error) {
	u.log.Warn("the copy of the registry can't be loaded from storage or stored: "+
		"after a restart, its crawlers may be unknown until the URL is read again", zap.Error(err))
}

// readURL reads a registry URL once.
func readURL(address string) (*crawler.Registry, error) {
	if err := CheckURL(address); err != nil {
		return nil, err
	}
	reader := document.NewReader(document.Config{})
	defer reader.Close()
	d := NewDocument(address)
	if _, err := d.source.Fetch(context.Background(), reader); err != nil {
		return nil, err
	}
	registry, _ := d.additions().extend(crawler.Builtin())
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
