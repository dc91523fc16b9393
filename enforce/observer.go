package enforce

import "time"

// Observer receives events of background work, for logs and metrics. Its method
// must be safe for concurrent use and must not block.
type Observer interface {
	// FetchEvent is called after every attempt to read a robots.txt.
	Fetched(FetchEvent)
}

// FetchEvent is the result of one attempt to read a robots.txt.
type FetchEvent struct {
	Origin  Origin // the zero Origin if one policy serves all origins
	Outcome Outcome
	Err     error         // why the outcome is neither Loaded nor Unchanged
	Rules   *Rules        // the policy in force after the read
	Changed bool          // the outcome or the file differs from that of the previous read
	Was     []byte        // the Rules.Text that was published before; nil if none was, or if it is not known
	Kept    bool          // Rules is a cached copy from an earlier read
	Again   bool          // the source works again: the read before this one failed
	Took    time.Duration // how long the fetch took
}

// nopObserver is the default Observer. It does nothing.
type nopObserver struct{}

func (nopObserver) Fetched(FetchEvent) {}
