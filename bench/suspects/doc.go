// Package suspects has the tests of `suspects` that need a browser: sessions of
// people, attacks on them, and a robot that is a browser.
package suspects
