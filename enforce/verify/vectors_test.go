package verify

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/document"
)

// corpus returns the folder of test vectors; "" if ROBOTS_CORPUS is not set.
func corpus(t *testing.T) string {
	dir := os.Getenv("ROBOTS_CORPUS")
	if dir == "" {
		t.Log("ROBOTS_CORPUS is not set: the test vectors are not checked")
		return ""
	}
	return filepath.Join(dir, "web-bot-auth")
}

func readJSONFile(t *testing.T, file string, into any) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// vector is a signed request with the directory of its key.
type vector struct {
	agent     string // the SignatureAgents value of the registry row
	keys      string // the body of the directory
	mediaType string
	message   *claim.Message
	now       time.Time
	claimed   bool // the User-Agent names the crawler
	testKeys  bool // keys of RFC 9421 are accepted
}

// check returns the result of Checker.Signature for the vector.
func (v vector) check(t *testing.T) (*crawler.Crawler, claim.Result) {
	t.Helper()
	registry, err := new(crawler.Registry).With(crawler.Crawler{Name: "VectorBot", UserAgents: []string{"VectorBot"}, Robots: []string{"VectorBot"},
		Class: crawler.Registered, Verify: crawler.Verify{SignatureAgents: []string{v.agent}}})
	if err != nil {
		t.Fatal(err)
	}
	if v.testKeys {
		defer acceptTestKeys()()
	}
	var row *crawler.Crawler
	var result claim.Result
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		u, err := document.ParseOpenURL(v.agent)
		if err != nil {
			t.Fatal(err)
		}
		w.set(directoryURL(u), page(v.keys, "Content-Type", v.mediaType))
		f := New(Config{Signatures: true, Client: &http.Client{Transport: w}, Now: func() time.Time { return v.now }})
		defer f.Close()
		checker, err := f.Bind(registry)
		if err != nil {
			t.Fatal(err)
		}
		f.Start(new(memory))
		synctest.Wait()
		var claim *crawler.Crawler
		if v.claimed {
			claim = registry.At(0)
		}
		row, result = checker.Signature(v.message, claim, v.now)
	})
	return row, result
}

// newMessage returns the Message of a request to target.
func newMessage(t *testing.T, method, target string, headers map[string]string) *claim.Message {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	m := &claim.Message{Method: method, Scheme: u.Scheme, Host: u.Host, RequestURI: u.RequestURI(), Header: make(http.Header)}
	for name, value := range headers {
		m.Header.Set(name, value)
	}
	return m
}

// The signed requests of cloudflare/web-bot-auth are valid if the keys of RFC 9421 are accepted, and not valid otherwise.
func TestCloudflareVectors(t *testing.T) {
	dir := corpus(t)
	if dir == "" {
		return
	}
	for _, file := range []string{"cloudflare_web_bot_auth_architecture_v1.json", "cloudflare_web_bot_auth_architecture_v2.json"} {
		var vectors []struct {
			Key       map[string]any `json:"key"`
			TargetURL string         `json:"target_url"`
			CreatedMS int64          `json:"created_ms"`
			Signature string         `json:"signature"`
			Input     string         `json:"signature_input"`
			Agent     string         `json:"signature_agent"`
		}
		readJSONFile(t, filepath.Join(dir, file), &vectors)
		if len(vectors) == 0 {
			t.Errorf("%s is empty", file)
		}
		for i, v := range vectors {
			for _, private := range []string{"d", "p", "q", "qi", "dp", "dq"} {
				delete(v.Key, private)
			}
			key, _ := json.Marshal(v.Key)
			headers := map[string]string{"Signature": v.Signature, "Signature-Input": v.Input}
			if v.Agent != "" {
				headers["Signature-Agent"] = v.Agent
			}
			x := vector{
				agent: "https://signature-agent.test", keys: `{"keys":[` + string(key) + `]}`, mediaType: directoryType,
				message: newMessage(t, "GET", v.TargetURL, headers), now: time.UnixMilli(v.CreatedMS).Add(time.Minute), claimed: v.Agent == "", testKeys: true,
			}
			if row, result := x.check(t); row == nil {
				t.Errorf("%s, %d: %+v", file, i, result)
			}
			x.testKeys = false
			if row, _ := x.check(t); row != nil {
				t.Errorf("%s, %d: verified by a key of RFC 9421", file, i)
			}
		}
	}
}

// Each request of negative.json has a fault, so it is unverified.
func TestNegativeVectors(t *testing.T) {
	dir := corpus(t)
	if dir == "" {
		return
	}
	var vectors struct {
		Tests []struct {
			ID, Title string
			Now       int64
			Request   struct {
				Method, URL, Body string
				Headers           map[string]string
			}
			Directory struct {
				URL     string
				Headers map[string]string
				Body    string
			}
		}
	}
	readJSONFile(t, filepath.Join(dir, "negative.json"), &vectors)
	if len(vectors.Tests) == 0 {
		t.Error("no vectors")
	}
	for _, v := range vectors.Tests {
		x := vector{
			agent: "https://signature-agent.test", keys: v.Directory.Body, mediaType: directoryType,
			message: newMessage(t, v.Request.Method, v.Request.URL, v.Request.Headers), now: time.Unix(v.Now, 0), claimed: true, testKeys: true,
		}
		x.message.HasBody = v.Request.Body != ""
		row, result := x.check(t)
		if row != nil || result.State != claim.Unverified || result.Reason == claim.DirectoryMissing {
			t.Errorf("%s, %s: %v, %+v", v.ID, v.Title, row, result)
		}
		t.Logf("%s: %s", v.Title, result.Reason)
	}
}

// The signature of a real agent's request proves the agent, although its User-Agent is a browser's.
func TestRequestOfARealAgent(t *testing.T) {
	dir := corpus(t)
	if dir == "" {
		return
	}
	var v struct {
		Now     int64
		Request struct {
			Method, Scheme, Authority, Path string
			Headers                         map[string]string
		}
		Key json.RawMessage
	}
	readJSONFile(t, filepath.Join(dir, "real_chatgpt_agent_2025-08-04.json"), &v)
	x := vector{
		agent: "https://chatgpt.com", keys: `{"keys":[` + string(v.Key) + `]}`, mediaType: directoryType, now: time.Unix(v.Now, 0),
		message: newMessage(t, v.Request.Method, v.Request.Scheme+"://"+v.Request.Authority+v.Request.Path, v.Request.Headers),
	}
	if row, result := x.check(t); row == nil {
		t.Errorf("%+v", result)
	}
	x.message.RequestURI = "/other"
	if row, _ := x.check(t); row != nil {
		t.Error("verified for another path")
	}
}

// Thumbprints are as in RFC 7638, and directories of the draft and of operators are accepted.
func TestDirectoriesOfOthers(t *testing.T) {
	dir := corpus(t)
	if dir == "" {
		return
	}
	var thumbprints []struct{ Name, JWK, Thumbprint string }
	readJSONFile(t, filepath.Join(dir, "cloudflare_jwk_thumbprint.json"), &thumbprints)
	for _, v := range thumbprints {
		text := strings.ReplaceAll(v.JWK, "RS256", "PS512") // RS256 is not for HTTP signatures
		if k, err := parseKey([]byte(text)); err != nil || k.thumbprint != v.Thumbprint {
			t.Errorf("%s: %+v, %v, want %s", v.Name, k, err, v.Thumbprint)
		}
	}
	var draft struct {
		Request  struct{ Authority string }
		Response struct {
			Headers map[string]string
			Body    string
		}
	}
	readJSONFile(t, filepath.Join(dir, "draft_directory_response.json"), &draft)
	r := &document.Response{Body: []byte(draft.Response.Body), Header: make(http.Header)}
	for name, value := range draft.Response.Headers {
		r.Header.Set(name, value)
	}
	r.MediaType = r.Header.Get("Content-Type")
	refuse := acceptTestKeys()
	if _, err := parseDirectory(r, time.Unix(1735689660, 0)); err != nil {
		t.Errorf("the directory of the draft: %v", err)
	}
	refuse()
	var shapes struct {
		Shapes []struct {
			Host, Seen  string
			ContentType string `json:"content_type"`
			Body        json.RawMessage
		}
	}
	readJSONFile(t, filepath.Join(dir, "directory_shapes.json"), &shapes)
	for _, s := range shapes.Shapes {
		if s.Body == nil {
			continue
		}
		seen, err := time.Parse(time.DateOnly, s.Seen)
		if err != nil {
			t.Fatal(err)
		}
		if s.ContentType == "" {
			s.ContentType = directoryType
		}
		_, err = parseDirectory(&document.Response{Body: s.Body, MediaType: s.ContentType}, seen)
		if want := s.Host == "chatgpt.com" || s.Host == "www.shopify.com"; (err == nil) != want {
			t.Errorf("%s: %v, want accepted: %v", s.Host, err, want)
		}
	}
}

// acceptTestKeys makes directories accept the keys of RFC 9421 until refuse is called.
func acceptTestKeys() (refuse func()) {
	keys := testKeys
	testKeys = nil
	return func() { testKeys = keys }
}
