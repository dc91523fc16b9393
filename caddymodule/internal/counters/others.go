package counters

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// Bounds of what a server shares: the rows, of which those are left out that were not used for
// longest, and the octets of the text.
const (
	maxShared     = 4000
	maxSharedText = 8 << 20 // decompressed
)

// Share returns the counts of the sites in a scope for other servers, compressed, and a name for this
// one, which stays the same after a restart with the file of Save.
func (c *Counters) Share(scope statusapi.Scope) (server string, text []byte, err error) {
	f := c.snapshot(func(r *row) bool { return scope.Site(r.site.configured()) })
	slices.SortStableFunc(f.Rows, func(a, b Row) int { // a pattern has the counts of its hosts
		return cmp.Or(cmp.Compare(a.Host, "")-cmp.Compare(b.Host, ""), cmp.Compare(b.Last, a.Last))
	})
	f.Rows = f.Rows[:min(len(f.Rows), maxShared)]
	var buffer bytes.Buffer
	compressed := gzip.NewWriter(&buffer)
	err = cmp.Or(json.NewEncoder(compressed).Encode(f), compressed.Close())
	return f.IDs[0], buffer.Bytes(), err
}

// Others are the counts of other servers at the sites of a fleet.
type Others struct {
	sum     *Counters
	scope   statusapi.Scope
	servers int
}

// NewOthers returns Others without counts, at the sites in a scope.
func (c *Counters) NewOthers(scope statusapi.Scope) *Others {
	o := &Others{sum: New(c.now), scope: scope}
	for _, site := range scope.Hosts() {
		o.sum.Site(site)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	o.sum.ids = slices.Clone(c.ownIDs()) // what c shares is not of another server
	return o
}

// Add adds what Share returned on a server. What is damaged, or was added before, is left out.
func (o *Others) Add(text []byte) {
	compressed, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return
	}
	f, err := read(io.LimitReader(compressed, maxSharedText))
	if err == nil && o.sum.add(f, o.scope) {
		o.servers++
	}
}

// SetOthers makes View add the counts of other servers from now on.
func (c *Counters) SetOthers(others []*Others) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others = others
}

// addOthers adds the counts of other servers.
func (v *View) addOthers(o *Others) {
	o.sum.mu.Lock()
	defer o.sum.mu.Unlock()
	o.sum.fold()
	if o.servers > 0 && v.addAll(o.sum) {
		v.Servers = max(v.Servers, o.servers+1)
	}
	if o.sum.since.Before(v.Since) {
		v.Since = o.sum.since.UTC()
	}
}
