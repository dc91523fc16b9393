package crawler

// product returns the product token of a crawler that is in no table: the evidence why itself, or the name to which it belongs.
func (e *evidence) product(ua string, why span, reason Reason) span {
	switch reason {
	case Contact:
		return e.contactProduct(ua, why)
	case CrawlerWord, TaskWord:
		if hash, n := firstWord(ua[why.start:why.end]); n == why.end-why.start {
			if s := baseTable.find(hash); s != nil && s.role&(roleCrawlerWord|roleTask|roleWeakTask) != 0 {
				return phraseStart(ua, why) // `Gulper Web Bot`: Gulper
			}
		}
	}
	return why
}

// contactProduct returns the product to which a contact belongs: the one at the beginning of the User-Agent, else the one before the contact
// in its comment, else the contact itself.
func (e *evidence) contactProduct(ua string, why span) span {
	if e.first.ok() && e.first.start < why.start && !e.has(roleMozilla) {
		if e.appID && e.first.start == 0 {
			end, _ := labels(ua, e.first.end)
			return span{0, end} // com.example.reader
		}
		return e.first
	}
	end := why.start
	for end > 0 && (separator[ua[end-1]] || ua[end-1] == ' ') {
		end--
	}
	start := end
	for start > 0 && !separator[ua[start-1]] {
		start--
	}
	if p := productIn(ua, start, end); p.ok() {
		return p
	}
	return why
}

// phraseStart returns the first word of the phrase that ends with why. Separators and browsers' words do not belong to a phrase.
func phraseStart(ua string, why span) span {
	start := why.start
	for start > 0 && !separator[ua[start-1]] {
		start--
	}
	if p := productIn(ua, start, why.end); p.ok() {
		return p
	}
	return why
}

// productIn returns the first word of ua[start:end] that begins with a letter and that browsers do not send; an empty span if there is none.
func productIn(ua string, start, end int) span {
	for i := start; i < end; {
		if wordByte[ua[i]] == 0 {
			i++
			continue
		}
		hash, n := firstWord(ua[i:end])
		if s := baseTable.find(hash); letter(ua[i]) && (s == nil || s.role&sentByBrowsers == 0) {
			return span{i, i + n}
		}
		i += n
	}
	return span{}
}

// separator has the octets that end a phrase in a User-Agent.
var separator = func() (t [256]bool) {
	for _, c := range "();,/[]{}<>\"'+" {
		t[c] = true
	}
	return t
}()

// baseTable has the vocabulary and no tokens.
var baseTable = buildTable(nil, vocabulary)
