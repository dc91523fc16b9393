// Package challenge proves the setting `challenge`: in Chromium, Firefox and WebKit, and
// under storms of strangers.
package challenge
