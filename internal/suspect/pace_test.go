package suspect

import (
	"fmt"
	"testing"
	"time"
)

// 50 people at one address use the same browser without cookies and read fast. They
// have 50 connections, so that they are not taken for one fast robot, even after one
// of them opened a trap.
func TestPeopleWhoShareAnAddress(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.send("/trap/x", hit(MintedHit), typed...)
	for page := range 100 {
		for person := range 50 {
			v.r.Connection = fmt.Sprintf("192.0.2.7:%d", 50000+person)
			if s := v.send(fmt.Sprintf("/%d/%d", person, page), nil, clicked...); s.Suspect || s.Signals.Has(Pace) {
				t.Fatalf("%+v", s)
			}
			if page == 0 {
				v.send("/style.css", nil, image...)
			}
			v.now = v.now.Add(20 * time.Millisecond)
		}
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fields []string
		n      int
		pause  time.Duration
		change func(*Request, int)
		want   bool
	}{
		"fast without Sec-Fetch fields":  {nil, 45, 100 * time.Millisecond, nil, true},
		"fast with Sec-Fetch fields":     {clicked, 45, 100 * time.Millisecond, nil, true},
		"30 tabs at once":                {clicked, 30, 0, nil, false},
		"a page a second for a minute":   {clicked, 60, time.Second, nil, false},
		"a page every two seconds":       {clicked, 5000, 2 * time.Second, nil, false},
		"a reload every 100 ms":          {clicked, 500, 100 * time.Millisecond, func(r *Request, _ int) { r.Target = "/" }, false},
		"a new connection for each page": {clicked, 500, 100 * time.Millisecond, func(r *Request, i int) { r.Connection = fmt.Sprint(i) }, false},
		"behind a proxy":                 {clicked, 500, 100 * time.Millisecond, func(r *Request, _ int) { r.Connection = "" }, false},
		"behind a proxy without fields":  {nil, 50, 100 * time.Millisecond, func(r *Request, _ int) { r.Connection = "" }, true},
		"100 pages, one per second":      {nil, 100, time.Second, nil, true},
		"many embedded files": {nil, 500, 100 * time.Millisecond, func(r *Request, i int) {
			if i%3 != 0 {
				r.Target += ".png"
			}
		}, false},
		"few embedded files": {nil, 200, 100 * time.Millisecond, func(r *Request, i int) {
			if i%10 == 0 {
				r.Target += ".png"
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisitor(t)
			got := false
			for i := range tt.n {
				change := func(r *Request) {
					if tt.change != nil {
						tt.change(r, i)
					}
				}
				got = got || v.send(fmt.Sprintf("/%d", i), change, tt.fields...).Signals.Has(Pace)
				v.now = v.now.Add(tt.pause)
			}
			if got != tt.want {
				t.Errorf("signal raised: %t, want %t", got, tt.want)
			}
		})
	}
}
