package main

// Configurations name time zones, and container images often lack the time zone database.
import _ "time/tzdata"
