package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
)

// recorder is a handler of events. It appends them to a file, and panics, waits for
// ever or does nothing more.
type recorder struct {
	File string `json:"file,omitempty"`
	Then string `json:"then,omitempty"` // panic, hang or nothing
}

func init() { caddy.RegisterModule(new(recorder)) }

func (*recorder) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.record", New: func() caddy.Module { return new(recorder) }}
}

func (h *recorder) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	d.Args(&h.File, &h.Then)
	return nil
}

func (h *recorder) Handle(_ context.Context, e caddy.Event) error {
	if name := e.Name(); name != "started" && !strings.HasPrefix(name, "robots_") {
		return nil
	}
	f, err := os.OpenFile(h.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	origin := "caddy"
	if e.Origin() != nil {
		origin = string(e.Origin().CaddyModule().ID)
	}
	line, _ := json.Marshal(event{e.Name(), e.Data, origin})
	_, err = f.Write(append(line, '\n'))
	f.Close()
	if e.Name() != "started" && h.Then == "panic" {
		panic("the handler's own mistake")
	} else if e.Name() != "started" && h.Then == "hang" {
		select {}
	}
	return err
}

// event is a line in the file of a recorder.
type event struct {
	Name   string
	Data   map[string]any
	Origin string
}

// recorded is the global option that records all events.
const recorded = "events {\n\t\ton * record $DIR/events\n\t}\n"

// events returns the recorded events, such as "robots_rules_lost begin shop.test",
// with the values of some fields of their data.
func (s *server) events(fields ...string) (list []string) {
	s.t.Helper()
	for line := range strings.Lines(string(logFile(s.dir + "/events").bytes())) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			continue // is being written
		}
		text := e.Name
		for _, field := range append([]string{"state", "site"}, fields...) {
			if v, ok := e.Data[field]; ok && v != "" {
				text += fmt.Sprint(" ", v)
			}
		}
		if e.Name != "started" && e.Origin != "robots" {
			text += " from " + e.Origin
		}
		list = append(list, text)
	}
	return list
}

// wantEvents waits until the recorded events are those in want, and checks that
// there are no others.
func (s *server) wantEvents(fields []string, want ...string) {
	s.t.Helper()
	s.eventually("the events "+strings.Join(want, ", "), func() bool { return len(s.events()) >= len(want) })
	if got := s.events(fields...); strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
