package crawler

import "strings"

// platformForm reports whether a User-Agent has the form that an operating system or an HTTP library builds from an app's name. Whatever that
// name is, a person uses the app (Chatbot/42 CFNetwork/1485 Darwin/23.1.0). The form must be complete: a crawler that only adds a word of it,
// or that gives a contact, does not count as an app.
func platformForm(ua string) bool {
	if strings.Contains(ua, "://") || strings.Contains(ua, "@") || strings.Contains(ua, "www.") || strings.Contains(ua, "compatible") {
		return false
	}
	return foundationForm(ua) || commentForm(ua) || dalvikForm(ua) || okhttpForm(ua)
}

// foundationForm matches `Name/1 CFNetwork/1485 Darwin/23.1.0`, the form of NSURLSession. On a Mac, the model of the computer follows.
func foundationForm(ua string) bool {
	name, rest, ok := strings.Cut(ua, " CFNetwork/")
	if !ok || name == "" || !startsWithDigit(rest) {
		return false
	}
	_, rest, ok = strings.Cut(rest, " Darwin/")
	if !ok || !startsWithDigit(rest) {
		return false
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, " (unknown version)"), " (Unknown Version)")
	return !strings.ContainsAny(name, "();")
}

// commentForm matches `Name/1.0 (iPhone; iOS 17.0; Scale/3.00)` (AFNetworking), `Name/1.0 (org.example.Name; build:1; iOS 17.0.0) Alamofire/5.9`
// and `org.example.name/1.0 (Linux; U; Android 14; en_US; Pixel 8; Build/AP1A; Cronet/124.0)`. The comment right after the app's name states
// the system on which the app runs. The order of the fields is that of the library.
func commentForm(ua string) bool {
	open := strings.IndexByte(ua, '(')
	if open < 2 || ua[open-1] != ' ' || !strings.ContainsAny(ua[:open], "/.") {
		return false
	}
	end := strings.IndexByte(ua[open:], ')')
	if end < 0 {
		return false
	}
	comment, rest := ua[open+1:open+end], strings.TrimSpace(ua[open+end+1:])
	first, fields, _ := strings.Cut(comment, "; ")
	second, _, _ := strings.Cut(fields, "; ")
	switch first {
	case "iPhone", "iPad", "iPod touch", "Apple TV", "Apple Watch":
		system, version, _ := strings.Cut(second, " ")
		if system == "iPhone" {
			version = strings.TrimPrefix(version, "OS ")
		}
		return (system == "iOS" || system == "iPadOS" || system == "iPhone" || system == "tvOS" || system == "watchOS") && startsWithDigit(version)
	case "Linux":
		return second == "U" && strings.Contains(fields, "; Android ") && strings.Contains(fields, "Cronet/") && rest == ""
	}
	library, version, _ := strings.Cut(rest, "/")
	return library == "Alamofire" && startsWithDigit(version) && strings.Contains(fields, "build:")
}

// dalvikForm matches `Dalvik/2.1.0 (Linux; U; Android 13; Pixel 7 Build/TQ3A)`, alone or with an app's name.
func dalvikForm(ua string) bool {
	_, rest, ok := strings.Cut(ua, "Dalvik/")
	if !ok || !startsWithDigit(rest) {
		return false
	}
	_, rest, ok = strings.Cut(rest, " (Linux; U; Android ")
	return ok && startsWithDigit(rest)
}

// okhttpForm matches an app's product, an optional comment, and okhttp's product at the end: `Name/1.0 (Android 13) okhttp/4.12.0`.
func okhttpForm(ua string) bool {
	name, version, ok := strings.Cut(ua, " okhttp/")
	if !ok || !startsWithDigit(version) || strings.ContainsAny(version, " (") {
		return false
	}
	product, version, ok := strings.Cut(name, "/")
	return ok && product != "" && !strings.ContainsAny(product, "();") && startsWithDigit(version)
}

func startsWithDigit(s string) bool { return s != "" && digit(s[0]) }
