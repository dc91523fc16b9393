package e2e_test

import (
	"testing"
)

// After a reload, a server enforces the good copy without an answer of the back
// end.
func TestReloadWhileRobotsTxtDoesNotArrive(t *testing.T) {
	t.Parallel()
	back, door := newFlaky(t), newGate(t)
	s := start(t, proxied(back.URL, ""))
	s.wants(403, s.get(googlebot, "/private/x"), "before the reload")
	back.answerWith(door.before(rules("/other/")))
	for _, options := range []string{"max_origins 7", "dialect 1994", "mode enforce", ""} {
		if err := s.reload(proxied(back.URL, options)); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			s.wants(403, s.get(gptbot, "/private/x"), "after a reload with "+options)
			s.wants(200, s.get(gptbot, "/x"), "what the copy allows, after a reload with "+options)
			s.wants(200, s.get(chrome, "/private/x"), "a person after a reload with "+options)
		}
	}
	door.open()
	s.eventually("the new file is in force", func() bool {
		return s.get(googlebot, "/other/x").status == 403 && s.get(googlebot, "/private/x").status == 200
	})
}
