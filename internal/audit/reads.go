package audit

import "time"

// RobotsTxtRead is one request for /robots.txt, or several that are close together.
type RobotsTxtRead struct {
	Time   time.Time `json:"time"`  // of the first
	Until  time.Time `json:"until"` // of the last
	Host   string    `json:"host"`
	Status int       `json:"status"` // 0 if the log does not have it
	Count  int64     `json:"count"`
}

// maxReads is the number of reads of robots.txt in the report, per crawler.
const maxReads = 200

// read records a request for robots.txt. When there are too many, those that are close
// together become one.
func (t *crawlerTally) read(at time.Time, host string, status int) {
	t.Reads = append(t.Reads, RobotsTxtRead{Time: at, Until: at, Host: host, Status: status, Count: 1})
	for part := time.Duration(32); part > 0 && len(t.Reads) > maxReads; part /= 2 {
		t.joinReads(part)
	}
	if n := len(t.Reads) - 1; n == maxReads { // so many different statuses
		t.Reads = t.Reads[:n]
		t.Reads[n-1].join(RobotsTxtRead{Until: at, Host: host, Count: 1})
	}
}

// joinReads merges reads with the same status within a part of the period of all reads.
func (t *crawlerTally) joinReads(part time.Duration) {
	step := t.Reads[len(t.Reads)-1].Until.Sub(t.Reads[0].Time).Abs() / part
	out := t.Reads[:0]
	for _, r := range t.Reads {
		i := len(out) - 1
		for i >= 0 && out[i].Status != r.Status {
			i--
		}
		if i < 0 || r.Until.Sub(out[i].Time).Abs() > step {
			out = append(out, r)
			continue
		}
		out[i].join(r)
	}
	t.Reads = out
}

// join adds another read to r.
func (r *RobotsTxtRead) join(o RobotsTxtRead) {
	r.Count += o.Count
	if o.Until.After(r.Until) {
		r.Until = o.Until
	}
	if r.Host != o.Host {
		r.Host = "" // several
	}
}
