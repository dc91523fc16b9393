// Package preference lists the signals with which a site says what its content
// may be used for. They are wishes: a server publishes them and can't enforce
// them. The control tokens, which are User-agent lines of robots.txt, are rows of
// package crawler's registry with control_only.
package preference

// State is whether a signal is in use.
type State string

// The states.
const (
	Current  State = "current"
	Obsolete State = "obsolete" // of an earlier draft: readers ignore it
)

// The fields that have keys, as lines of robots.txt and as header fields.
const (
	ContentSignal = "Content-Signal"
	ContentUsage  = "Content-Usage"
)

// Signal is a key of a field.
type Signal struct {
	Field   string
	Key     string
	Values  []string
	State   State
	Instead string // the current key that replaces an obsolete one; "" if there is none
	Places  string // where it may stand
	Source  string
}

const (
	inGroup  = "a group of robots.txt"
	anywhere = "a group of robots.txt, after an optional path; the response header"
	signals  = "https://contentsignals.org"
	vocab    = "https://www.ietf.org/archive/id/draft-ietf-aipref-vocab-07.xml"
	oldVocab = "https://datatracker.ietf.org/doc/draft-ietf-aipref-vocab/05/"
)

var (
	yesNo = []string{"yes", "no"}
	yn    = []string{"y", "n"}
)

// Signals are the known signals. Where each may stand is in contentsignals.org
// and in draft-ietf-aipref-attach-05.
var Signals = []Signal{
	{ContentSignal, "search", yesNo, Current, "", inGroup, signals},
	{ContentSignal, "ai-input", yesNo, Current, "", inGroup, signals},
	{ContentSignal, "ai-train", yesNo, Current, "", inGroup, signals},
	{ContentSignal, "use", []string{"immediate", "reference", "full"}, Current, "", inGroup, signals},
	{ContentUsage, "train-ai", yn, Current, "", anywhere, vocab},
	{ContentUsage, "search", yn, Current, "", anywhere, vocab},
	{ContentUsage, "train-genai", yn, Obsolete, "train-ai", anywhere, oldVocab},
	{ContentUsage, "genai", yn, Obsolete, "train-ai", anywhere, oldVocab},
	{ContentUsage, "ai", yn, Obsolete, "train-ai", anywhere, oldVocab},
	{ContentUsage, "bots", yn, Obsolete, "", anywhere, oldVocab},
}

// Lookup returns the signal with a key of a field, or nil.
func Lookup(field, key string) *Signal {
	for i := range Signals {
		if s := &Signals[i]; s.Field == field && s.Key == key {
			return s
		}
	}
	return nil
}

// Other returns the name of the other field.
func Other(field string) string {
	if field == ContentSignal {
		return ContentUsage
	}
	return ContentSignal
}
