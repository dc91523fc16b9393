package enforce

import "time"

// Observer is told what happens in the background. Its method is called from
// several goroutines at once and must not block.
type Observer interface {
	// PolicyRead is called after every attempt to read a robots.txt.
	PolicyRead(PolicyRead)
}

// PolicyRead is the result of one attempt to read a robots.txt.
type PolicyRead struct {
	Origin  Origin // the zero Origin where one policy serves all
	Outcome Outcome
	Err     error   // why, where the outcome is not Loaded or Unchanged
	Policy  *Policy // what is in force now
	Changed bool    // the outcome or the file differs from that of the previous read
	Was     []byte  // the file with lines of the operator's policy that was published before; nil if none is known
	Kept    bool    // the policy in force is a good copy of an earlier read
	Took    time.Duration
}

// nopObserver is the Observer of those who gave none.
type nopObserver struct{}

func (nopObserver) PolicyRead(PolicyRead) {}
