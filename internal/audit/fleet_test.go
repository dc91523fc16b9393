package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// A User-Agent that opens pages which others hardly want is named, though it fetches style sheets, in a
// log of any length; one of which nobody knows what others want is not.
func TestFleet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pages, others int // others: one in so many pages
		addresses     int // of the User-Agent
		want          string
	}{
		{300, 3, 300, "about 200 pages"},
		{20_000, 3, 20_000, "a fleet of robots"},
		{300, 300, 300, ""},
		{20_000, 3, 1, "a robot, or people behind 1 address"},
	} {
		l := new(lonelyLog)
		for i := range tt.pages {
			target, agent := fmt.Sprintf("/o%d/r%d/blame/f%d.go", i%7, i%11, i), chrome141
			if i%tt.others == 0 {
				target, agent = fmt.Sprintf("/o%d/r%d", i%7, i%11), strings.Replace(chrome141, "141", fmt.Sprint(200+i/3%10), 1)
			}
			client := fmt.Sprintf("203.%d.%d.%d", i>>16, i>>8&255, i&255)
			if tt.addresses == 1 && agent == chrome141 {
				client = "198.51.100.9"
			}
			l.add(i, client, target, "-", agent)
			l.add(i, client, "/style.css", "https://example.com"+target, agent)
		}
		f := findingOf(mustRun(t, Options{Files: []logfile.File{memory("log", []byte(l.String()))}}), "fleet")
		if tt.want == "" && f.Text != "" || tt.want != "" && (!strings.Contains(f.Text, chrome141) || !strings.Contains(f.Text, tt.want) || (f.Paste == "challenge /*/*/blame/*") != (tt.addresses > 1)) {
			t.Errorf("%d pages: %+v", tt.pages, f)
		}
	}
}
