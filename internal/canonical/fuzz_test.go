package canonical

import (
	"bytes"
	"path"
	"strings"
	"testing"
)

// A canonical text has only octets of a URI, is its own canonical form, and decodes
// to what the text decodes to. The clean form of a path is that of path.Clean, but for
// its last slash. IsPlain is true for no text that either would change.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"/", "", "/a%2Fb//c/../%2e%2E/d/.", "/%E3%83%84?a=%26&b=é#x", "/%zz%4%", "//./..//", "/a/..b/...//", "x/%00\xff", "/index.html?q=a/../b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4<<10 {
			return
		}
		for _, keep := range []Octets{Path, Query} {
			form := string(Append(nil, s, keep))
			if i := strings.IndexFunc(form, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }); i >= 0 {
				t.Errorf("%q has %q", form, form[i])
			}
			if again := string(Append(nil, form, keep)); again != form {
				t.Errorf("the canonical form of %q is %q", form, again)
			}
			if a, b := AppendDecoded(nil, s), AppendDecoded(nil, form); !bytes.Equal(a, b) {
				t.Errorf("%q decodes to %q, its form %q to %q", s, a, form, b)
			}
		}
		decoded := AppendDecoded(nil, "/"+s)
		want := path.Clean(string(decoded))
		clean := string(CleanPath(bytes.Clone(decoded), true))
		if strings.TrimSuffix(clean, "/") != strings.TrimSuffix(want, "/") {
			t.Errorf("CleanPath(%q) = %q, and path.Clean %q", decoded, clean, want)
		}
		if again := string(CleanPath([]byte(clean), true)); again != clean {
			t.Errorf("CleanPath(%q) = %q", clean, again)
		}
		if p, _, _ := strings.Cut(s, "?"); IsPlain(s) && (string(Append(nil, p, Path)) != p || string(CleanPath([]byte(p), true)) != p) {
			t.Errorf("%q is plain", s)
		}
		if target := OriginForm(s); len(target) > len(s)+1 {
			t.Errorf("OriginForm(%q) = %q", s, target)
		}
	})
}
