package notify

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Names show the scheme and, where it is no secret, the host.
func TestNames(t *testing.T) {
	for raw, want := range map[string]string{
		"ntfy://user:pa55@ntfy.example:8443/topic?priority=high":              "ntfy://ntfy.example:8443",
		"smtp://user:pa55@mail.example:587/?from=a@b.example&to=c@d.example":  "smtp://mail.example:587",
		"https://hooks.example/services/T0ken?template=json&@authorization=x": "https://hooks.example",
		"http://127.0.0.1:9000/":                                                    "http://127.0.0.1:9000",
		"generic+https://hooks.example/x":                                           "https://hooks.example",
		"generic://hooks.example/x":                                                 "generic://hooks.example",
		"matrix://user:pa55@matrix.invalid/?rooms=!a:matrix.invalid":                "matrix://matrix.invalid",
		"discord://T0ken-of-a-webhook@1234567890":                                   "discord",
		"telegram://123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA@telegram?chats=1": "telegram",
		"pushover://shoutrrr:T0ken@user-key":                                        "pushover",
		"  ntfy://ntfy.sh/topic\n":                                                  "ntfy://ntfy.sh",
	} {
		a, err := parse(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		} else if a.name != want {
			t.Errorf("%s is shown as %s, want %s", raw, a.name, want)
		}
	}
}

// Errors of URLs help, and have no secrets.
func TestWrongURLs(t *testing.T) {
	for raw, want := range map[string]string{
		"": "write it as ntfy://", "T0ken": "write it as ntfy://", "T0ken:T0ken": "write it as ntfy://",
		"smtp://a:T0ken/9@mail.example/":                 "%XX",
		"ntfy://T0ken%zz@ntfy.sh/topic":                  "%XX",
		"T0ken://T0ken@T0ken/T0ken":                      "want https or one of bark, discord,",
		"logger://host":                                  "want https or one of",
		"ntfy+https://ntfy.sh/topic":                     "the service ntfy takes no +",
		"ntfy://T0ken:T0ken@ntfy.sh/":                    "topic is required",
		"ntfy://ntfy.sh/topic?T0ken=T0ken9":              "not a valid config key",
		"smtp://user:T0ken@mail.example/?to=a@b.example": "fromAddress missing",
		"smtp://user:T0ken@mail.example/?from=a@b.example&to=b@c.example&auth=T0ken": "",
		"telegram://T0ken:T0ken@telegram?chats=1":                                    "invalid telegram token",
		"slack://hook:T0ken-T0ken-T0ken@webhook":                                     "",
		"pushover://shoutrrr:T0ken@":                                                 "write it as ntfy://",
		"matrix://user:T0ken@matrix.example/?T0ken9=T0ken9":                          "",
	} {
		_, err := parse(raw)
		if err == nil {
			t.Errorf("%s is accepted", raw)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", raw, err, want)
		}
		if key := "T0ken9="; strings.Contains(strings.ReplaceAll(err.Error(), key, ""), "T0ken") && raw != "ntfy://ntfy.sh/topic?T0ken=T0ken9" {
			t.Errorf("the error of %s has a secret: %v", raw, err)
		}
	}
}

// Errors of the library have the URL, in several forms.
func TestErrorsAreMasked(t *testing.T) {
	a, err := parse("https://us%2Fer:p%40ss@hooks.example/services/T0ken-1/T0ken%202?key=T0ken%2F3&x=yes")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`Post "https://us%2Fer:***@hooks.example/services/T0ken-1": dial tcp 127.0.0.1:1: connection refused`: "Post … dial tcp 127.0.0.1:1: connection refused",
		"us/er and p@ss, us%2Fer and p@ss":               "… and …, … and …",
		"T0ken-1, T0ken 2, T0ken%202":                    "…, …, …",
		"T0ken/3 said it":                                "…/3 said it",
		"unexpected response status code: 403 Forbidden": "unexpected response status code: 403 Forbidden",
	} {
		if got := a.mask(errors.New(text)).Error(); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", text, got, want)
		}
	}
}

// A URL with placeholders is checked when they are replaced.
func TestPlaceholders(t *testing.T) {
	t.Setenv("NOTIFY_TEST", "pa55-word")
	t.Setenv("NOTIFY_TEST_URL", "ntfy://user:pa55-word@ntfy.sh/topic")
	const withPlaceholder = "ntfy://user:{env.NOTIFY_TEST}@ntfy.sh/topic"
	if err := Check(withPlaceholder); err != nil {
		t.Error(err)
	}
	for _, raw := range []string{withPlaceholder, "{env.NOTIFY_TEST_URL}"} {
		a, err := resolve(raw)
		if err != nil {
			t.Fatal(err)
		}
		if password, _ := a.url.User.Password(); password != "pa55-word" || strings.Contains(a.name, "pa55") || strings.Contains(a.mask(fmt.Errorf("x %s", password)).Error(), "pa55") {
			t.Errorf("%s: password %q, name %q", raw, password, a.name)
		}
	}
	for _, raw := range []string{"{env.NOTIFY_TEST_MISSING}", "ntfy://{env.NOTIFY_TEST_MISSING}@ntfy.sh/topic"} {
		if _, err := resolve(raw); err == nil || !strings.Contains(err.Error(), "{env.NOTIFY_TEST_MISSING}") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
