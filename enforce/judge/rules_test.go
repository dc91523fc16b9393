package judge

import "testing"

// Rules.Status tells the answers without a file apart.
func TestStatusOfRules(t *testing.T) {
	for answer, want := range map[int]int{200: 0, 401: 401, 403: 403, 404: 404, 410: 410, 429: 0, 503: 0} {
		p, err := Settings{}.Rules(Response{Status: answer, Body: []byte("User-agent: *\nDisallow: /private/\n")})
		if err != nil || p.Status() != want {
			t.Errorf("answer %d: status %d, want %d, error %v", answer, p.Status(), want, err)
		}
	}
}

// A file with nothing but blank lines and comments is empty; other answers are not.
func TestEmptyFile(t *testing.T) {
	for file, want := range map[string]bool{
		"": true, "\n\r\n\r": true, "# comment\n\t # another\r\n": true, "\ufeff# comment": true,
		"User-agent: *\nDisallow:\n": false, "Sitemap: https://example.com/s.xml": false, "#\rnonsense": false, "\x00": false,
	} {
		if p, err := (Settings{}).Rules(Response{Status: 200, Body: []byte(file)}); err != nil || p.Content().Empty() != want {
			t.Errorf("%q: %t, want %t, error %v", file, p.Content().Empty(), want, err)
		}
	}
	if p, err := (Settings{}).Rules(Response{Status: 404}); err != nil || p.Content().Empty() {
		t.Errorf("a site without a file counts as one with an empty file, error %v", err)
	}
}
