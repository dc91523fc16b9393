package caddymodule

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

const (
	// maxRegistryURL is the largest registry that is read from a URL, in octets:
	// ten times the built-in one.
	maxRegistryURL = 4 << 20
	// registryRefresh is the time between two reads of a registry URL.
	registryRefresh = 6 * time.Hour
	// registryRetry is the time between a failed read and the next one. It
	// doubles with each failure, up to registryRefresh.
	registryRetry = time.Minute
	// registryTimeout bounds one read.
	registryTimeout = 30 * time.Second
	// maxRefusalsLogged is the number of refused rows that are logged one by one.
	maxRefusalsLogged = 20
)

// isRegistryURL reports whether the value of registry is a URL, not a file.
func isRegistryURL(registry string) bool { return strings.Contains(registry, "://") }

// checkRegistryURL returns an error if the URL of a registry is malformed or
// insecure. It must be https, except on a loopback address, because the rows
// decide which clients robots.txt applies to.
func checkRegistryURL(rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil {
		return err
	}
	if u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return fmt.Errorf("registry %q: want an https URL; http is for this machine only (localhost, 127.0.0.1)", rawURL)
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// registryCopy is a good copy of a registry from a URL, in the form in which
// Caddy's storage keeps it.
type registryCopy struct {
	URL          string    `json:"url"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Read         time.Time `json:"read"` // the last time when the server confirmed that it is current
	Body         []byte    `json:"body"`
}

// registryState is the last good copy of a registry from a URL. It outlives a
// reload.
type registryState struct {
	mu      sync.Mutex
	copy    registryCopy
	rows    []crawler.Crawler
	refused []crawler.Rejection // rows that could not be read
	version int                 // the number of changes of the rows

	// The built-in registry with the rows added, which most sites share.
	extended        *crawler.Registry
	extendedRefused []crawler.Rejection
}

// Destruct implements caddy.Destructor.
func (*registryState) Destruct() error { return nil }

// set stores a new copy with its rows.
func (s *registryState) set(c registryCopy, rows []crawler.Crawler, refused []crawler.Rejection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copy, s.rows, s.refused, s.extended = c, rows, refused, nil
	s.version++
}

// refresh records that the copy is still current.
func (s *registryState) refresh(c registryCopy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copy = c
}

// last returns the last good copy, a zero one if there is none.
func (s *registryState) last() registryCopy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copy
}

// extend returns base with the rows of the last good copy added, the rows
// that were refused, and the version of the copy.
func (s *registryState) extend(base *crawler.Registry) (*crawler.Registry, []crawler.Rejection, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) == 0 {
		return base, nil, s.version
	}
	if base != crawler.Builtin() {
		registry, refused := base.Extend(s.rows)
		return registry, slices.Concat(s.refused, refused), s.version
	}
	if s.extended == nil {
		s.extended, s.extendedRefused = base.Extend(s.rows)
	}
	return s.extended, slices.Concat(s.refused, s.extendedRefused), s.version
}

// registryURL is a registry that is read from a URL, in the background.
type registryURL struct {
	url     string
	state   *registryState
	storage certmagic.Storage // nil: copies are not stored
	client  *http.Client
	log     *zap.Logger
	now     func() time.Time

	mu       sync.Mutex
	changed  []func() // called after each change
	failures int      // since the last read that succeeded
}

func newRegistryURL(rawURL string, state *registryState, storage certmagic.Storage, log *zap.Logger) *registryURL {
	return &registryURL{
		url: rawURL, state: state, storage: storage, log: log.With(zap.String("url", rawURL)), now: time.Now,
		client: &http.Client{
			Timeout: registryTimeout,
			CheckRedirect: func(r *http.Request, via []*http.Request) error {
				if len(via) > enforce.MaxRedirects {
					return enforce.ErrRedirects
				}
				return checkRegistryURL(r.URL.String())
			},
		},
	}
}

// onChange registers changed to be called after each read with different rows.
func (u *registryURL) onChange(changed func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.changed = append(u.changed, changed)
}

// run loads the copy in storage, then reads the URL at intervals until ctx
// ends.
func (u *registryURL) run(ctx context.Context) {
	u.restore(ctx)
	wait := time.Duration(0)
	if c := u.state.last(); c.Body != nil { // it was read before a reload
		wait = max(0, registryRefresh-u.now().Sub(c.Read))
	}
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		wait = u.read(ctx)
	}
}

// read reads the URL once and returns the time until the next read.
func (u *registryURL) read(ctx context.Context) time.Duration {
	before := u.state.last()
	next, err := u.fetch(ctx, before)
	switch {
	case ctx.Err() != nil:
		return registryRefresh
	case err != nil:
		registryReads.WithLabelValues("failed").Inc()
		u.log.Error("the registry can't be read: the previous crawlers stay in force", zap.Error(err))
		u.failures++
		return min(registryRetry<<min(u.failures-1, 10), registryRefresh)
	}
	u.failures = 0
	if bytes.Equal(next.Body, before.Body) {
		registryReads.WithLabelValues("unchanged").Inc()
		u.state.refresh(next)
		u.store(ctx, next)
		return registryRefresh
	}
	if err := u.apply(next); err != nil {
		registryReads.WithLabelValues("failed").Inc()
		u.log.Error("the registry can't be used: the previous crawlers stay in force", zap.Error(err))
		return registryRefresh
	}
	registryReads.WithLabelValues("loaded").Inc()
	u.store(ctx, next)
	return registryRefresh
}

// apply puts a copy in force.
func (u *registryURL) apply(c registryCopy) error {
	rows, refused, err := crawler.ReadAdditions(c.Body)
	if err != nil {
		return err
	}
	u.state.set(c, rows, refused)
	_, all, _ := u.state.extend(crawler.Builtin())
	for i, r := range all {
		if i == maxRefusalsLogged {
			u.log.Warn("more rows of the registry were refused", zap.Int("rows", len(all)-i))
			break
		}
		u.log.Warn("a row of the registry was refused", zap.String("crawler", r.Name), zap.String("reason", r.Reason))
	}
	u.log.Info("the registry was read", zap.Int("rows", len(rows)), zap.Int("refused", len(all)))
	u.mu.Lock()
	changed := slices.Clone(u.changed)
	u.mu.Unlock()
	for _, f := range changed {
		f()
	}
	return nil
}

// fetch requests the URL. If the server answers that before is still current,
// fetch returns before with a new time.
func (u *registryURL) fetch(ctx context.Context, before registryCopy) (registryCopy, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.url, nil)
	if err != nil {
		return before, err
	}
	req.Header.Set("User-Agent", enforce.FetcherUserAgent)
	if before.Body != nil {
		if before.ETag != "" {
			req.Header.Set("If-None-Match", before.ETag)
		}
		if before.LastModified != "" {
			req.Header.Set("If-Modified-Since", before.LastModified)
		}
	}
	resp, err := u.client.Do(req)
	if err != nil {
		return before, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && before.Body != nil:
		before.Read = u.now()
		return before, nil
	case resp.StatusCode != http.StatusOK:
		return before, fmt.Errorf("status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRegistryURL+1))
	switch {
	case err != nil:
		return before, err
	case len(body) > maxRegistryURL:
		return before, fmt.Errorf("larger than %d MiB", maxRegistryURL>>20)
	}
	return registryCopy{
		URL: u.url, Body: body, Read: u.now(),
		ETag: bounded(resp.Header.Get("ETag")), LastModified: bounded(resp.Header.Get("Last-Modified")),
	}, nil
}

// bounded returns a field's value, or "" if it is too long to store.
func bounded(value string) string {
	if len(value) > 256 {
		return ""
	}
	return value
}

// storageKey returns the key of the last good copy in Caddy's storage.
func (u *registryURL) storageKey() string {
	sum := sha256.Sum256([]byte(u.url))
	return path.Join("robots", "registry", hex.EncodeToString(sum[:])+".json")
}

// store stores a good copy for the next start of the server.
func (u *registryURL) store(ctx context.Context, c registryCopy) {
	if u.storage == nil {
		return
	}
	data, err := json.Marshal(c)
	if err == nil {
		err = u.storage.Store(ctx, u.storageKey(), data)
	}
	if err != nil {
		u.log.Warn("the copy of the registry can't be stored: after a restart, its crawlers are unknown until the URL is read again", zap.Error(err))
	}
}

// restore applies the stored copy of an earlier process, unless there is a newer
// one.
func (u *registryURL) restore(ctx context.Context) {
	if c := u.state.last(); c.Body != nil || u.storage == nil {
		return
	}
	data, err := u.storage.Load(ctx, u.storageKey())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var c registryCopy
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil && c.URL == u.url && len(c.Body) <= maxRegistryURL {
		c.Read = time.Time{} // read it again soon
		err = u.apply(c)
	}
	if err != nil {
		u.log.Warn("the stored copy of the registry can't be used", zap.Error(err))
	}
}

// readRegistryURL reads a registry URL once, for commands.
func readRegistryURL(rawURL string) (*crawler.Registry, error) {
	if err := checkRegistryURL(rawURL); err != nil {
		return nil, err
	}
	u := newRegistryURL(rawURL, new(registryState), nil, zap.NewNop())
	c, err := u.fetch(context.Background(), registryCopy{})
	if err == nil {
		err = u.apply(c)
	}
	if err != nil {
		return nil, fmt.Errorf("registry %s: %w", rawURL, err)
	}
	registry, _, _ := u.state.extend(crawler.Builtin())
	return registry, nil
}
