package live

import (
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// maxTexts is how many octets all texts have together.
const maxTexts = 4 << 20

// texts has the texts of robots.txt files that are or were in force, as they are published,
// so without hidden paths: by the version in logs. The file of the setting persist has them
// for `caddy robots audit --evidence`. If there is no room for a new one, those make room
// that were in force the longest ago, but none that is in force now.
type texts struct {
	known  map[string]counters.Text
	octets int
}

// seen notes that a version is in force.
func (t *texts) seen(version string, now time.Time) {
	if text, ok := t.known[version]; ok {
		text.Last = now.Unix()
		t.known[version] = text
	}
}

// note adds the text of rules that were in force last at a time.
func (t *texts) note(rules *judge.Rules, last, now time.Time) {
	if _, known := t.known[rules.Tag()]; !known && rules.Tag() != "" {
		t.add(rules.Tag(), counters.Text{Text: string(rules.Text()), Last: last.Unix()}, now)
	}
}

// add adds a text, if there is room.
func (t *texts) add(version string, text counters.Text, now time.Time) {
	for t.octets+len(text.Text) > maxTexts {
		oldest, at := "", min(now.Add(-time.Minute).Unix(), text.Last+1)
		for other, one := range t.known {
			if one.Last < at {
				oldest, at = other, one.Last
			}
		}
		if oldest == "" {
			return
		}
		t.octets -= len(t.known[oldest].Text)
		delete(t.known, oldest)
	}
	t.octets += len(text.Text) - len(t.known[version].Text)
	t.known[version] = text
}

// keepTexts keeps the text of a file, and when that changed those before it, of which a look may
// have missed one.
func (a *Accidents) keepTexts(p *inForce, f *watchedFile, now time.Time) {
	if tag := p.Rules.Tag(); tag == f.kept {
		a.texts.seen(tag, now)
		return
	}
	f.kept = p.Rules.Tag()
	a.texts.note(p.Rules, now, now)
	for i := range p.Earlier {
		a.texts.note(p.Earlier[i].Rules, p.Earlier[i].Until(), now)
	}
}
