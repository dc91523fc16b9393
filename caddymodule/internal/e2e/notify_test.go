package e2e_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// inbox has what services got: an e-mail, or the path, title, credentials and body of a
// request.
type inbox struct {
	mu   sync.Mutex
	list []string
}

func (i *inbox) add(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = append(i.list, text)
}

// count returns how many have all parts.
func (i *inbox) count(parts ...string) (n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
next:
	for _, text := range i.list {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				continue next
			}
		}
		n++
	}
	return n
}

func (i *inbox) String() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return strings.Join(i.list, "\n\n")
}

// mailServer starts an SMTP server that takes mails from a user with a password.
func mailServer(t *testing.T, user, password string, box *inbox) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	want := "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00"+user+"\x00"+password))
	serve := func(conn net.Conn) {
		defer conn.Close()
		in, mail, known := bufio.NewReader(conn), "", false
		fmt.Fprint(conn, "220 mail.test\r\n")
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, "EHLO"):
				fmt.Fprint(conn, "250-mail.test\r\n250 AUTH PLAIN\r\n")
			case line == want:
				known = true
				fmt.Fprint(conn, "235 welcome\r\n")
			case line == "DATA" && known:
				fmt.Fprint(conn, "354 go on\r\n")
				for line != ".\r\n" {
					mail += line
					if line, err = in.ReadString('\n'); err != nil {
						return
					}
				}
				box.add(mail)
				fmt.Fprint(conn, "250 taken\r\n")
			case line == "QUIT":
				fmt.Fprint(conn, "221 bye\r\n")
				return
			case known && (strings.HasPrefix(line, "MAIL FROM:") || strings.HasPrefix(line, "RCPT TO:")):
				mail += line + "\n"
				fmt.Fprint(conn, "250 yes\r\n")
			default:
				fmt.Fprintf(conn, "535 no: %s\r\n", line)
			}
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return listener.Addr().String()
}

// The example of caddymodule/steps/notify/README.md tells the services that an accident begins and ends. A
// service that fails is asked again, and then given up; people get their pages meanwhile,
// and nothing shows a secret.
func TestDocumentedNotify(t *testing.T) {
	t.Parallel()
	const password, token = "Mail-S3cret", "Tk-S3cret"
	box, back := new(inbox), newFlaky(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, given, _ := r.BasicAuth()
		box.add(fmt.Sprintf("%s %s Title: %s; password: %s\n%s", r.Method, r.URL.Path, r.Header.Get("Title"), given, body))
		if strings.HasPrefix(r.URL.Path, "/down/") {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(web.Close)
	host := web.Listener.Addr().String()
	global := documented(t, "caddymodule/steps/notify/README.md", "caddyfile", "notify smtp://", "{env.SMTP_PASSWORD}", "{file.$DIR/password}", "mail.example.com:587",
		mailServer(t, "caddy", password, box), "{env.NTFY_TOKEN}", token, "ntfy.sh/my-topic", host+"/my-topic?scheme=http", "https://hooks.example.com", "http://"+host,
		"\trobots {\n", "\tdebug\n\trobots {\n\t\tnotify {file.$DIR/url}\n")
	some := documented(t, "caddymodule/steps/notify/README.md", "caddyfile", "on robots_rules_lost", "{\n\tevents {\n", "events {\n", "ntfy.sh/my-topic", host+"/some?scheme=http", "\t}\n}\n", "")
	config := strings.Replace(deployed(back, "events {\n\t}\n"), "{\n", strings.TrimSuffix(global, "}\n"), 1)
	config = strings.Replace(config, "events {\n", some, 1)
	s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t)}
	writeFile(t, filepath.Join(s.dir, "password"), password+"\n")
	writeFile(t, filepath.Join(s.dir, "url"), "http://down:Down-S3cret@"+host+"/down/Path-S3cret\n")
	s.run(config)
	if s.at("shop.test", googlebot, "/x"); len(s.accidents()) > 0 {
		t.Fatalf("before: %v", s.accidents())
	}
	back.answerWith(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<p>@everyone https://evil.test") })
	s.refresh()
	const title, what = "robots: rules lost at shop.test", "robots.txt of shop.test lost 1 of 1 rule (not robots)"
	const advice = "What to do: If that was a mistake, put the file back."
	services := [][]string{
		{"MAIL FROM:<caddy@example.com>", "RCPT TO:<ops@example.com>", "Subject: " + title},
		{"POST /my-topic Title: " + title, "password: " + token}, {`POST /caddy `, `{"message":"` + title}, {"POST /some Title: " + title},
		{"POST /down/Path-S3cret ", "password: Down-S3cret", title},
	}
	all := func(parts ...string) bool {
		for _, service := range services {
			if box.count(append(parts, service...)...) == 0 {
				return false
			}
		}
		return true
	}
	s.eventually("all services are told", func() bool { return all(what, advice) })
	s.eventually("the one that fails is asked again", func() bool { return box.count("/down/", what) > 1 })
	s.wants(200, s.at("shop.test", chrome, "/x"), "a person")
	if box.count("everyone") > 0 || box.count("evil.test") > 0 {
		t.Errorf("messages have text of robots.txt:\n%s", box)
	}
	cron := func() string {
		t.Helper()
		_, command, _ := strings.Cut(readFile(t, filepath.Join(root(t), "caddymodule/steps/notify/README.md")), "*/10 * * * * ")
		command, _, _ = strings.Cut(command, "\n")
		cmd := exec.Command("bash", "-c", command)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), fmt.Sprintf("CADDY_ADMIN=localhost:%d", s.admin))
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := cron(); !strings.Contains(out, "error: robots.txt of shop.test") {
		t.Errorf("cron: %s", out)
	}
	back.answerWith(rules("/private/"))
	s.refresh()
	services[0][2], services[1][0], services[2][1] = "Subject: "+title+" ended", "POST /my-topic Title: "+title+" ended", `{"message":"`+title+" ended"
	services = append(services[:3], []string{"POST /some Title: " + title + " ended"})
	s.eventually("they are told the end", func() bool { return all("It has ended. It was: ") })
	if out := cron(); out != "" {
		t.Errorf("cron: %s", out)
	}
	s.pass(31 * time.Minute)
	s.eventually("the service that fails is given up", func() bool { return len(s.lines("notify: a message could not be sent, and is dropped")) > 0 })
	settings := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/config/apps/robots/", s.admin), "test", "", nil).body
	if log := string(s.log.bytes()); strings.Contains(log, "S3cret") || !strings.Contains(log, "invoking subscribed handler") || strings.Contains(settings, password) {
		t.Errorf("a secret is shown, or handlers are not logged:\n%s", settings)
	}
}
