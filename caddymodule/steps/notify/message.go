package notify

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/caddyserver/caddy/v2"
)

// message is a text for people.
type message struct {
	title, body string
	at          time.Time
}

// maxText bounds a text, in characters: some services take no more than 1024 or 2000.
const maxText = 900

// prefix begins the names of the events of accidents.
const prefix = "robots_"

// news returns the message about an event of an accident.
func news(e caddy.Event, now time.Time) *message {
	text := func(field string) string {
		value, _ := e.Data[field].(string)
		return value
	}
	title := "robots: " + strings.ReplaceAll(strings.TrimPrefix(e.Name(), prefix), "_", " ")
	site, pattern := text("site"), text("pattern")
	if pattern != "" { // clients choose the host: it is no link
		site = strings.ReplaceAll(site, ".", "[.]")
	}
	if place := cmp.Or(site, pattern); place != "" {
		title += " at " + place
	}
	body := text("what") + "."
	if crawler := text("crawler"); crawler != "" && crawler != "all" { // which the sentence says better
		body += "\nCrawler: " + crawler
	}
	if line, _ := e.Data["line"].(int); line > 0 {
		body += fmt.Sprintf("\nLine of robots.txt: %d", line)
	}
	body += "\nSince: " + text("since")
	switch state := text("state"); state {
	case "end":
		title, body = title+" ended", "It has ended. It was: "+body
	case "worse":
		title += " got worse"
	case "change":
		title += " changed"
	}
	if advice := text("advice"); advice != "" {
		body += "\nWhat to do: " + advice
	}
	if e.Data["fresh"] == true {
		body += "\nThis host did not have requests on two days. Others like it may follow: `caddy robots status` names them."
	}
	return &message{plain(title, false), plain(body, true), now}
}

// marks are characters that could make a mention, a link or markup.
var marks = strings.NewReplacer("@", " at ", "<", "(", ">", ")", "://", ": ", "](", "] (")

// plain returns a text without marks and control characters, which is not too long.
func plain(text string, lines bool) string {
	text = strings.Map(func(c rune) rune {
		if c == '\n' && lines || unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, marks.Replace(text))
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + " ..."
	}
	return text
}
