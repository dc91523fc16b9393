package enforce

import "time"

// FetchEvent is the result of one attempt to fetch a robots.txt.
type FetchEvent struct {
	Origin   Origin // the zero Origin if one file serves all origins
	Outcome  Outcome
	From     string        // see Response.From
	Err      error         // why the outcome is neither Loaded nor Unchanged
	Rules    *Rules        // the rules in force after the fetch
	Changed  bool          // the outcome or the file differs from that of the previous fetch
	Was      []byte        // the Rules.Text that was published before; nil if none was, or if it is not known
	Held     bool          // the outcome is of a new version that is fetched again before it counts; Rules is what stays in force
	Kept     bool          // Rules is a cached copy from an earlier fetch
	Again    bool          // the source works again: the fetch before this one failed
	Repeated bool          // the first fetch since the origin was evicted
	Took     time.Duration // how long the fetch took
}
