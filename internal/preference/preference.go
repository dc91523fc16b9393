// Package preference lists the signals with which a site says what its content
// may be used for. They are wishes: a server publishes them and can't enforce
// them. The control tokens, which are User-agent lines of robots.txt, are rows of
// package crawler's registry with control_only.
package preference

import "slices"

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
	Source  string
}

const (
	signals  = "https://contentsignals.org"
	vocab    = "https://www.ietf.org/archive/id/draft-ietf-aipref-vocab-08.xml"
	oldVocab = "https://datatracker.ietf.org/doc/draft-ietf-aipref-vocab/05/"
)

var (
	yesNo = []string{"yes", "no"}
	yn    = []string{"y", "n"}
)

// Signals are the known signals. Where each may stand is in contentsignals.org
// (a group of robots.txt) and in draft-ietf-aipref-attach-05 (a group of robots.txt,
// after an optional path, and the response header).
var Signals = []Signal{
	{ContentSignal, "search", yesNo, Current, "", signals},
	{ContentSignal, "ai-input", yesNo, Current, "", signals},
	{ContentSignal, "ai-train", yesNo, Current, "", signals},
	{ContentSignal, "use", []string{"immediate", "reference", "full"}, Current, "", signals},
	{ContentUsage, "train-ai", yn, Current, "", vocab},
	{ContentUsage, "search", yn, Current, "", vocab},
	{ContentUsage, "train-genai", yn, Obsolete, "train-ai", oldVocab},
	{ContentUsage, "genai", yn, Obsolete, "train-ai", oldVocab},
	{ContentUsage, "ai", yn, Obsolete, "train-ai", oldVocab},
	{ContentUsage, "bots", yn, Obsolete, "", oldVocab},
}

// Lookup returns the signal with a key of a field, or nil.
func Lookup(field, key string) *Signal {
	if i := slices.IndexFunc(Signals, func(s Signal) bool { return s.Field == field && s.Key == key }); i >= 0 {
		return &Signals[i]
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
