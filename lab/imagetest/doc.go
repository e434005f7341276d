// Package imagetest tests the container image that `make image` builds: its files, and its program, which runs
// read-only in the unpacked root file system with the arguments, the ConfigMap and the account of a pod that
// the chart installed.
//
// The package builds nothing. Its tests need the rights of root on Linux, for chroot and for mounts.
package imagetest
