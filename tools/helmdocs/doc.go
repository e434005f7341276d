// Package helmdocs pins helm-docs, which makes the README of the chart, and checks that the README is up to date.
package helmdocs
