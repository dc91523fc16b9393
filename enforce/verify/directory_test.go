package verify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/document"
)

func TestParseDirectory(t *testing.T) {
	s := newEd25519Signer()
	without := func(members string) string { return strings.TrimSuffix(s.jwk, "}") + "," + members + "}" }
	now := time.Unix(1_800_000_000, 0)
	many := func(n int) string {
		keys := make([]string, n)
		for i := range keys {
			keys[i] = newEd25519Signer().jwk
		}
		return `{"keys":[` + strings.Join(keys, ",") + `,` + s.jwk + `]}`
	}
	for name, tc := range map[string]struct {
		body, mediaType string
		err             string // empty: the key of s is found
	}{
		"one key":                             {`{"keys":[` + s.jwk + `]}`, directoryType, ""},
		"another media type, with parameters": {`{"keys":[` + s.jwk + `]}`, "Application/HTTP-Message-Signatures-Directory; charset=utf-8", ""},
		"a JWK set":                           {`{"keys":[` + s.jwk + `]}`, "application/jwk-set+json", ""},
		"a single JWK":                        {s.jwk, "application/json", ""},
		"a wrong kid":                         {`{"keys":[` + without(`"kid":"me"`) + `]}`, directoryType, ""},
		"members that are ignored or allow signatures": {`{"keys":[` + without(`"use":"sig","alg":"ed25519","key_ops":["verify"]`) + `],"signature_agent":"https://agent.test","purposes":["ai"]}`, directoryType, ""},
		"a usable key after unusable ones":             {`{"keys":[{"kty":"oct","k":"AA"},7,null,{"kty":"OKP","crv":"X25519","x":"AA"},{"kty":"RSA","n":"AQ","e":"AQAB"},` + s.jwk + `]}`, directoryType, ""},
		"valid from now":                               {`{"keys":[` + without(fmt.Sprintf(`"nbf":%d,"exp":%d`, now.Unix(), now.Unix()+60)) + `]}`, directoryType, ""},
		"a byte order mark":                            {"\ufeff" + `{"keys":[` + s.jwk + `]}`, directoryType, ""},
		"an expired key":                               {`{"keys":[` + without(fmt.Sprintf(`"exp":%d`, now.Unix()-1)) + `]}`, directoryType, "has expired"},
		"a key for encryption":                         {`{"keys":[` + without(`"use":"enc"`) + `]}`, directoryType, "not for signatures"},
		"a private key":                                {`{"keys":[` + without(`"d":"AAAA"`) + `]}`, directoryType, "d"},
		"an algorithm that does not fit the key":       {`{"keys":[` + without(`"alg":"ES256"`) + `]}`, directoryType, "algorithm"},
		"no keys":                                      {`{"keys":[]}`, directoryType, "no keys"},
		"10,000 keys":                                  {`{"keys":[` + strings.Repeat(s.jwk+",", 9_999) + s.jwk + `]}`, directoryType, "10000 keys: the limit is 256"},
		"a web page":                                   {`<html>`, "text/html", "media type"},
		"no media type":                                {`{"keys":[` + s.jwk + `]}`, "", "media type"},
		"a web page with the media type of JSON":       {`<html>`, directoryType, "parsing JSON"},
		"a JSON string":                                {`"keys"`, directoryType, "parsing JSON"},
		"the Ed25519 key of RFC 9421":                  {`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}]}`, directoryType, "RFC 9421"},
		"the P-256 key of RFC 9421":                    {`{"keys":[{"kty":"EC","crv":"P-256","x":"qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA","y":"Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0"}]}`, directoryType, "RFC 9421"},
		"256 keys":                                     {many(255), directoryType, ""},
		"a P-256 key that is not on the curve":         {`{"keys":[{"kty":"EC","crv":"P-256","x":"qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA","y":"qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA"}]}`, directoryType, "not on declared curve"},
	} {
		d, err := parseDirectory(&document.Response{Body: []byte(tc.body), MediaType: tc.mediaType}, now)
		switch {
		case tc.err != "":
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v, want an error with %q", name, err, tc.err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case d.find(s.thumbprint, now, now) == nil:
			t.Errorf("%s: the key is not found", name)
		}
	}
}

// A key is not found before `nbf`. `exp` counts only if the directory was last read more than 3 days ago.
func TestKeyValidity(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	d := &directory{keys: map[string]*publicKey{"a": {notBefore: now, expires: now.Add(time.Hour)}}}
	for _, tc := range []struct {
		read, now time.Time
		found     bool
	}{
		{now, now.Add(-time.Hour), false},
		{now, now, true},
		{now, now.Add(2 * time.Hour), true},
		{now, now.Add(FreshPeriod + time.Hour), false},
	} {
		if got := d.find("a", tc.read, tc.now) != nil; got != tc.found {
			t.Errorf("read at %s, now %s: found %v", tc.read, tc.now, got)
		}
	}
}

func TestDirectoryURL(t *testing.T) {
	for agent, want := range map[string]string{
		"https://chatgpt.com":          "https://chatgpt.com/.well-known/http-message-signatures-directory",
		"https://CHATGPT.com:443/":     "https://chatgpt.com/.well-known/http-message-signatures-directory",
		"https://agent.test/keys.json": "https://agent.test/keys.json",
		"http://127.0.0.1:8080":        "http://127.0.0.1:8080/.well-known/http-message-signatures-directory",
	} {
		u, err := document.ParseOpenURL(agent)
		if err != nil {
			t.Fatal(err)
		}
		if got := directoryURL(u); got != want {
			t.Errorf("directoryURL(%q) = %q, want %q", agent, got, want)
		}
	}
}

// FuzzDirectory checks that each key of a parsed directory is stored under its thumbprint, and that no key of RFC 9421 is among them.
func FuzzDirectory(f *testing.F) {
	f.Add([]byte(`{"keys":[` + newEd25519Signer().jwk + `]}`))
	f.Add([]byte(`{"keys":[` + newECDSASigner().jwk + `,{"kty":"RSA","n":"AQ","e":"AQAB","exp":1e300}]}`))
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := parseDirectory(&document.Response{Body: body, MediaType: directoryType}, time.Unix(1_800_000_000, 0))
		if err != nil {
			return
		}
		if len(d.keys) == 0 || len(d.keys) > maxKeys {
			t.Fatalf("%d keys", len(d.keys))
		}
		for thumbprint, k := range d.keys {
			if len(thumbprint) != 43 || k.thumbprint != thumbprint || k.key == nil {
				t.Fatalf("%q: %+v", thumbprint, k)
			}
			for _, refused := range testKeys {
				if thumbprint == refused {
					t.Fatal("the directory has a key of RFC 9421")
				}
			}
			k.verify(body, body)
		}
	})
}
