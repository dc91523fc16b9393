package e2e_test

import (
	"net/http"
	"testing"
)

// unboundClients are clients that robots.txt does not apply to, unless a group
// names them or http_clients is on.
var unboundClients = []struct{ name, ua string }{
	{"a browser", chrome},
	{"okhttp", "okhttp/4.12.0"},
	{"curl", "curl/8.5.0"},
	{"python-requests", "python-requests/2.32.3"},
	{"Go", "Go-http-client/1.1"},
	{"no User-Agent", ""},
	{"an app on CFNetwork", "NetNewsMobile/42 CFNetwork/1485 Darwin/23.1.0"},
	{"an app on Dalvik", "Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/UD1A.230803.041)"},
	{"an app on okhttp", "ShopApp/5.1 okhttp/4.12.0"},
	{"an app on Alamofire", "Bank/3.2 (com.example.bank; build:7; iOS 17.2.0) Alamofire/5.8.0"},
	{"an app with robot in its name", "iRobot Home/6.0 (iPhone; iOS 17.0; Scale/3.00)"},
	{"an app with bot in its name", "Chatbot/42 CFNetwork/1485 Darwin/23.1.0"},
}

// Clients that no rule applies to never wait for the file. Here the back end holds
// the file back until each of them has its page.
func TestAppsAndLibrariesDoNotWaitForRobotsTxt(t *testing.T) {
	t.Parallel()
	back, door := newFlaky(t), newGate(t)
	back.answerWith(door.before(rules("/")))
	s := start(t, proxied(back.URL, ""))
	crawler := make(chan response)
	go func() {
		got, _ := send(client, http.MethodGet, "http://"+s.named("localhost")+"/private/x", gptbot, "", nil)
		crawler <- got
	}()
	<-door.asked
	for _, c := range unboundClients {
		got := s.rawAt("localhost", "/private/x", c.ua)
		if got.status != 200 || got.body != "page" {
			t.Errorf("%s while the file is read: status %d, %q", c.name, got.status, got.body)
		}
	}
	select {
	case got := <-crawler:
		t.Logf("the crawler got an answer before the last of them: status %d", got.status)
		s.wants(429, got, "a crawler while the file is read")
		door.open()
	default:
		door.open()
		if got := <-crawler; got.status != 403 && got.status != 429 {
			t.Errorf("the crawler that asked before them: status %d", got.status)
		}
	}
	s.eventually("the rules are in force", func() bool { return s.get(gptbot, "/x").status == 403 })
	for _, c := range unboundClients {
		s.wants(200, s.rawAt("localhost", "/private/x", c.ua), c.name+" under Disallow: /")
	}
}
