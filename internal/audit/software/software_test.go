package software

import "testing"

// What a page is is said after answers for two signs of the software, not before.
func TestWhat(t *testing.T) {
	r := NewRecogniser()
	for _, c := range []struct{ note, target, want string }{
		{"/explore/repos", "/*/*/blame/*", ""},
		{"/explore/repos", "/*/*/blame/*", ""},
		{"/ann/app/src/branch/main/x.go", "/*/*/blame/*", "Forgejo or Gitea: blame pages"},
		{"/", "/*/*/issues?q=&sort=", "Forgejo or Gitea: sorted lists"},
		{"/", "/*/*/issues", ""},
		{"/", "/app/snapshot/x", ""}, // of cgit
	} {
		r.Note(c.note)
		if got := r.What(c.target); got != c.want {
			t.Errorf("%s after %s: %q, want %q", c.target, c.note, got, c.want)
		}
	}
}
