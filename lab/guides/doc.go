// Package guides runs the commands of the pages for newcomers as they are written.
//
// Each test runs the sh blocks of one section in order, in a folder with the repository's charts, against a real API
// server. Between the blocks it checks what the page says. Because the lab runs no containers, the installed program
// runs as a local process with the files and the account of its pods, and the other programs do nothing.
package guides
