package logformat

import "slices"

// Indices in FieldNames and Entry.Fields.
const (
	Cookie = iota
	SecFetchSite
	SecFetchDest
	SecFetchMode
	SecFetchUser
	SecPurpose
	Purpose
	XMoz
	SecCHUA
	XForwardedFor
	XForwardedProto
)

// FieldNames are the request fields whose values an Entry has: those by which robots
// with browsers' User-Agents are found.
var FieldNames = [...]string{
	Cookie: "Cookie", SecFetchSite: "Sec-Fetch-Site", SecFetchDest: "Sec-Fetch-Dest", SecFetchMode: "Sec-Fetch-Mode", SecFetchUser: "Sec-Fetch-User",
	SecPurpose: "Sec-Purpose", Purpose: "Purpose", XMoz: "X-Moz", SecCHUA: "Sec-Ch-Ua", XForwardedFor: "X-Forwarded-For", XForwardedProto: "X-Forwarded-Proto",
}

// fieldOf returns the index of a field in FieldNames; -1 if it is not there.
func fieldOf(name []byte) int { return slices.Index(FieldNames[:], view(name)) }
