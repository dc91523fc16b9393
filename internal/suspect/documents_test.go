package suspect

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

func TestDocumentsSignal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		visitors int
		embed    bool
		n        int
		fields   []string
		files    bool
		want     bool
	}{
		"20 documents without Sec-Fetch fields":          {20, true, 20, nil, false, true},
		"19 documents without Sec-Fetch fields":          {20, true, 19, nil, false, false},
		"100 documents with Sec-Fetch fields":            {20, true, 100, clicked, false, true},
		"99 documents with Sec-Fetch fields":             {20, true, 99, clicked, false, false},
		"one embedded file":                              {20, true, 200, nil, true, false},
		"visitors fetch no files":                        {20, false, 200, nil, false, false},
		"no visitors yet":                                {0, true, 200, nil, false, false},
		"fewer than ten visitors":                        {9, true, 200, nil, false, false},
		"visitors fetch no files, with Sec-Fetch fields": {20, false, 200, clicked, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisitor(t)
			for i := range tt.visitors {
				person := visitorAt(t, v.watch)
				person.r.Client = netip.AddrFrom4([4]byte{198, 51, 100, byte(i)})
				for page := range 4 {
					person.send(fmt.Sprint("/", page), nil, clicked...)
					if tt.embed {
						person.send("/logo.png", nil, image...)
					}
				}
			}
			if tt.files {
				v.send("/logo.png", nil, tt.fields...)
			}
			got, n := false, tt.n
			if tt.want {
				n += 2 // a document with the same 15-bit hash as the one before counts as a reload
			}
			for i := range n {
				got = got || v.send(fmt.Sprint("/", i), nil, tt.fields...).Signals.Has(Documents)
				v.now = v.now.Add(5 * time.Second)
			}
			if got != tt.want {
				t.Errorf("signal raised: %t, want %t", got, tt.want)
			}
		})
	}
}
