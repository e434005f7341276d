// Package webtest looks at the pages of Evenkeel in a real browser: the reports of the program, and `evenkeel ui` on
// the lab's control plane. It also makes the pictures of the documentation.
//
// Each page is opened in two widths, in light and dark colours. A page must not report an error, ask another server for
// anything, violate its Content-Security-Policy, scroll sideways, or have a serious accessibility fault.
package webtest
