package verify

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestDirectories(t *testing.T) {
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
		"a set of keys":                    {`{"keys":[` + s.jwk + `]}`, directoryType, ""},
		"parameters of the type":           {`{"keys":[` + s.jwk + `]}`, "Application/HTTP-Message-Signatures-Directory; charset=utf-8", ""},
		"a JWK set":                        {`{"keys":[` + s.jwk + `]}`, "application/jwk-set+json", ""},
		"a bare JWK":                       {s.jwk, "application/json", ""},
		"a wrong kid":                      {`{"keys":[` + without(`"kid":"me"`) + `]}`, directoryType, ""},
		"other members":                    {`{"keys":[` + without(`"use":"sig","alg":"ed25519","key_ops":["verify"]`) + `],"signature_agent":"https://agent.test","purpose":"ai"}`, directoryType, ""},
		"beside keys that can't be used":   {`{"keys":[{"kty":"oct","k":"AA"},7,null,{"kty":"OKP","crv":"X25519","x":"AA"},{"kty":"RSA","n":"AQ","e":"AQAB"},` + s.jwk + `]}`, directoryType, ""},
		"valid from now on":                {`{"keys":[` + without(fmt.Sprintf(`"nbf":%d,"exp":%d`, now.Unix(), now.Unix()+60)) + `]}`, directoryType, ""},
		"a byte order mark":                {"\ufeff" + `{"keys":[` + s.jwk + `]}`, directoryType, ""},
		"expired":                          {`{"keys":[` + without(fmt.Sprintf(`"exp":%d`, now.Unix()-1)) + `]}`, directoryType, "has expired"},
		"for encryption":                   {`{"keys":[` + without(`"use":"enc"`) + `]}`, directoryType, "not for signatures"},
		"a private key":                    {`{"keys":[` + without(`"d":"AAAA"`) + `]}`, directoryType, "private half"},
		"another algorithm":                {`{"keys":[` + without(`"alg":"ES256"`) + `]}`, directoryType, "algorithm"},
		"no keys":                          {`{"keys":[]}`, directoryType, "no keys"},
		"10,000 keys":                      {`{"keys":[` + strings.Repeat(s.jwk+",", 9_999) + s.jwk + `]}`, directoryType, "more than 256"},
		"a page":                           {`<html>`, "text/html", "media type"},
		"no media type":                    {`{"keys":[` + s.jwk + `]}`, "", "media type"},
		"a page as JSON":                   {`<html>`, directoryType, "reading JSON"},
		"words":                            {`"keys"`, directoryType, "reading JSON"},
		"RFC 9421's key":                   {`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}]}`, directoryType, "RFC 9421"},
		"RFC 9421's P-256 key":             {`{"keys":[{"kty":"EC","crv":"P-256","x":"qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA","y":"Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0"}]}`, directoryType, "RFC 9421"},
		"256 keys":                         {many(255), directoryType, ""},
		"a key with a point off the curve": {`{"keys":[{"kty":"EC","crv":"P-256","x":"qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA","y":"qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA"}]}`, directoryType, "P-256"},
	} {
		d, err := directoryParser(testKeys)(&response{body: []byte(tc.body), mediaType: tc.mediaType}, nil, now)
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

// A key is not found before its time, and its end counts once the directory was not read for 3 days.
func TestKeyTimes(t *testing.T) {
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
			t.Errorf("read %s, now %s: found %v", tc.read, tc.now, got)
		}
	}
}

// A directory may be signed by its keys; a signature that is there must hold.
func TestSignedDirectory(t *testing.T) {
	s := newEd25519Signer()
	body := `{"keys":[` + s.jwk + `]}`
	sign := func(authority string) (input, signature string) {
		list := `("@authority";req);created=1;expires=4000000000;keyid="` + s.thumbprint + `";tag="http-message-signatures-directory"`
		base := `"@authority";req: ` + authority + "\n" + `"@signature-params": ` + list
		return "d=" + list, "d=:" + base64.StdEncoding.EncodeToString(s.sign(base)) + ":"
	}
	goodInput, goodSignature := sign("agent.test")
	otherInput, otherSignature := sign("mirror.test")
	for name, tc := range map[string]struct {
		input, signature string
		ok               bool
	}{
		"unsigned":                    {"", "", true},
		"signed":                      {goodInput, goodSignature, true},
		"signed for another":          {otherInput, otherSignature, false},
		"signed badly":                {goodInput, "d=:AAAA:", false},
		"signature missing":           {goodInput, "", false},
		"fields in pieces":            {`d=(`, goodSignature, false},
		"fields of 64 KB":             {goodInput + `, e="` + strings.Repeat("a", 64<<10) + `"`, goodSignature, false},
		"signed by a key not in it":   {strings.ReplaceAll(goodInput, s.thumbprint, "other"), goodSignature, true},
		"signed with an unknown part": {`d=("@moon");created=1;expires=4000000000;keyid="` + s.thumbprint + `";tag="http-message-signatures-directory"`, goodSignature, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			fields := []string{"Content-Type", directoryType}
			if tc.input != "" {
				fields = append(fields, "Signature-Input", tc.input)
			}
			if tc.signature != "" {
				fields = append(fields, "Signature", tc.signature)
			}
			f.web.set(directoryAt, page(body, fields...))
			f.Start()
			defer f.Close()
			synctest.Wait()
			if got := f.events.lastRead(DirectorySource); (got == "") != tc.ok {
				t.Errorf("%s: %q, want accepted: %v", name, got, tc.ok)
			}
		})
	}
}

// While the directory can't be read again, its last keys stay, also over a restart.
func TestDirectoryOutage(t *testing.T) {
	s := newEd25519Signer()
	synctest.Test(t, func(t *testing.T) {
		f := signed(t, s)
		f.web.set(directoryAt, func(*http.Request) *http.Response { return answerWith(503, "")(nil) })
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		m := func() *Message { return s.request(agentMember, s.params(f.config.Now(), ""), authority, coveredBot) }
		if row, got := f.check(m(), ""); row != "Signer" {
			t.Errorf("%+v", got)
		}
		f.Close()
		again := newFixture(t, func(c *Config) { c.Storage = f.storage })
		again.Start()
		defer again.Close()
		synctest.Wait()
		if row, got := again.check(m(), ""); row != "Signer" {
			t.Errorf("after a restart: %+v", got)
		}
		empty := newFixture(t)
		defer empty.Close()
		if _, got := empty.check(m(), ""); got.Reason != DirectoryMissing {
			t.Errorf("before the first read: %+v", got)
		}
	})
}

func TestDirectoryURL(t *testing.T) {
	for agent, want := range map[string]string{
		"https://chatgpt.com":          "https://chatgpt.com/.well-known/http-message-signatures-directory",
		"https://CHATGPT.com:443/":     "https://chatgpt.com/.well-known/http-message-signatures-directory",
		"https://agent.test/keys.json": "https://agent.test/keys.json",
		"http://127.0.0.1:8080":        "http://127.0.0.1:8080/.well-known/http-message-signatures-directory",
		"http://agent.test":            "",
		"agent.test":                   "",
	} {
		got, err := directoryURL(agent)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("directoryURL(%q) = %q, %v, want %q", agent, got, err, want)
		}
	}
}

// Whatever a directory says, its keys have the thumbprints that they are found by, and no key of RFC 9421 is among them.
func FuzzDirectory(f *testing.F) {
	f.Add([]byte(`{"keys":[` + newEd25519Signer().jwk + `]}`))
	f.Add([]byte(`{"keys":[` + newECDSASigner().jwk + `,{"kty":"RSA","n":"AQ","e":"AQAB","exp":1e300}]}`))
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := directoryParser(testKeys)(&response{body: body, mediaType: directoryType}, nil, time.Unix(1_800_000_000, 0))
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
					t.Fatal("a test key")
				}
			}
			k.verify(body, body)
		}
	})
}
