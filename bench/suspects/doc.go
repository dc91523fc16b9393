// Package suspects has the tests of the option `suspects` that need Chromium:
// people who browse, attacks that try to make them suspects, and a robot that runs
// in a browser.
package suspects
