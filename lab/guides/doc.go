// Package guides runs the commands of README and docs as they are written.
//
// Each test runs the sh blocks of a page, or of a section, in order, in a folder with the repository's charts, against
// a real API server. Between the blocks it checks what the page says. The lab runs the pods of Evenkeel as local
// processes, and other programs do nothing.
package guides
