package crawler

import "strings"

// programName reports whether a word has the form of a program's name, not of a device's (LGU8120). Without a digit, it has at least four
// letters. With a digit, no part of it is a model number (ACME-A877), and it has at least six letters before the first digit, or at least
// four lower-case letters and no upper-case ones except the first octet.
func programName(name string) bool {
	var letters, before, lower int
	before = -1
	for i := range len(name) {
		switch c := name[i]; {
		case letter(c):
			letters++
			if !upper(c) {
				lower++
			}
		case digit(c) && before < 0:
			before = letters
		}
	}
	if before < 0 {
		return letters >= 4
	}
	if modelNumber(name) {
		return false
	}
	if upper(name[0]) {
		letters--
	}
	return before >= 6 || lower >= 4 && lower == letters
}

// isProgram reports whether the first word of a User-Agent without other evidence is a program's name.
func (e *evidence) isProgram(ua string) bool {
	first, unknown := e.at[firstAt], e.at[unknownAt]
	switch {
	case isFieldList(ua):
		return false
	case attachedVersion(ua): // Java1.8.0_151
		return true
	case e.has(roleMedia):
		return false
	case bareProduct(ua) > 0, e.begins(unknownAt) && e.words <= 3 && 'a' <= ua[0] && ua[0] <= 'z' && unknown.end > 2: // ds9
		return true
	case e.words > 1:
		return false
	case unknown.ok():
		return unknown.end-unknown.start > 2 && letters(ua[first.start:first.end])
	}
	return e.roles&^roleNoise == 0 && !strings.ContainsAny(ua, "0123456789")
}

// bareProduct returns the end of the name if a User-Agent is nothing but a name with a letter, a slash, and a version: Zed9/1.0,
// x1/1. Otherwise it returns 0. Devices send more than that, or a name with a model number.
func bareProduct(ua string) int {
	name, version, _ := strings.Cut(ua, "/")
	if !hasLetter(name) || modelNumber(name) || !startsWithDigit(strings.TrimLeft(version, "vV")) {
		return 0
	}
	for i := range len(ua) {
		if wordByte[ua[i]] == 0 && ua[i] != '.' && ua[i] != '+' && i != len(name) {
			return 0
		}
	}
	return len(name)
}

// modelNumber reports whether the part of a name after a hyphen or an underscore is a device's model number: one to three upper-case
// letters, two to four digits, and at most two letters. V2024 is a version, not a model number.
func modelNumber(name string) bool {
	for i := 1; i < len(name); i++ {
		if name[i-1] != '-' && name[i-1] != '_' {
			continue
		}
		letters := run(name[i:], upper)
		digits := run(name[i+letters:], digit)
		k := i + letters + digits
		k += min(2, run(name[k:], letter))
		if letters >= 1 && letters <= 3 && digits >= 2 && digits <= 4 && (k == len(name) || name[k] == '-' || name[k] == '_') &&
			(letters > 1 || name[i] != 'V') {
			return true
		}
	}
	return false
}

// attachedVersion reports whether a User-Agent begins with a name and its version without a space or a slash between them: Java1.8.0_151.
// The version must have a dot: names of devices have none.
func attachedVersion(ua string) bool {
	name := run(ua, letter)
	n := name + run(ua[name:], digit)
	return name >= 4 && n > name && n+1 < len(ua) && ua[n] == '.' && digit(ua[n+1])
}

// templateVersion reports whether s begins with a slash and a placeholder for a version, copied from documentation. One repeated letter
// does not count: privacy tools overwrite versions with it.
func templateVersion(s string) bool {
	if len(s) < 2 || s[0] != '/' || !letter(s[1]) {
		return false
	}
	hash, n := firstWord(s[1:])
	return baseTable.find(hash) == nil && !masked(s[1:1+n])
}

// masked reports whether a word repeats one letter, as when a privacy tool has overwritten a browser's name.
func masked(word string) bool { return len(word) > 1 && strings.Count(word, word[:1]) == len(word) }

// endsWithSystem reports whether a User-Agent ends with the system in the form of .NET programs: Acme 2013 (15.0.4797) Windows NT 10.0.
// Browsers have the system in their comment.
func endsWithSystem(ua string) bool {
	i := strings.LastIndex(ua, " Windows NT ")
	return i > 0 && strings.Trim(ua[i+len(" Windows NT "):], "0123456789.") == ""
}

// isFieldList reports whether a User-Agent is only a list of fields, separated by semicolons or slashes. Televisions and other devices send
// such lists: Acme;TV1;f00d;;3.2, A/11/unknown/TP320/arm/7471894.
func isFieldList(ua string) bool {
	return (strings.Count(ua, ";") >= 2 || strings.Count(ua, "/") >= 5) && !strings.ContainsAny(ua, " ()")
}

// followsWord reports whether only a space separates the word at position i from a word before it, like Uptime in `Acme Uptime Monitor`.
func followsWord(ua string, i int) bool { return i >= 2 && ua[i-1] == ' ' && letter(ua[i-2]) }

// isProbeName reports whether a program's name ends with `probe` or with a form
// of `health check`.
func isProbeName(name string) bool {
	for _, suffix := range [...]string{"probe", "healthcheck", "health-check", "health_check", "healthchecker", "health-checker",
		"health_checker"} {
		if cut := len(name) - len(suffix); cut >= 0 && strings.EqualFold(name[cut:], suffix) {
			return true
		}
	}
	return false
}
