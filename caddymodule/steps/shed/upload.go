package shed

import (
	"io"
	"sync/atomic"
)

// uploadShare is 1 divided by the share of InFlight that requests count for whose body
// has not arrived: otherwise idle clients with browsers' names would keep robots out.
const uploadShare = 4

// Upload is the body of a request that is in flight. It must be passed to End when the
// request is no longer.
type Upload struct {
	io.ReadCloser
	load *Load
	open atomic.Bool
}

// Upload returns body, as one of a request that arrives while it is in flight. It must
// be called before Enter.
func (l *Load) Upload(body io.ReadCloser) *Upload {
	u := &Upload{ReadCloser: body, load: l}
	u.open.Store(true)
	l.uploads.Add(1)
	return u
}

// Read implements io.Reader.
func (u *Upload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil {
		u.End()
	}
	return n, err
}

// Close implements io.Closer.
func (u *Upload) Close() error {
	u.End()
	return u.ReadCloser.Close()
}

// End notes that the body has arrived, or is not wanted any more. It may be called
// again, and for a nil u.
func (u *Upload) End() {
	if u != nil && u.open.Swap(false) {
		u.load.uploads.Add(-1)
	}
}

// counted returns how many requests in flight count, of n.
func (l *Load) counted(n int64) int64 {
	return n - max(0, l.uploads.Load()-l.limit/uploadShare)
}
